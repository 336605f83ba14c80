"""Compares tables that are Parquet with the same tables as CSV: names of columns, and every value bit by bit, by two readers; and
the record in the metadata with the record beside the files. And folders of parts with single files of the same rows."""

import csv
import json
import os
import struct
import sys

import polars
import pyarrow.parquet

KEY = b"fbint"


def bits(number):
    return struct.pack("<d", number)


def value(text, example):
    """The value of a cell of CSV, as the type that Parquet has in this column."""
    if text == "":
        return None
    return type(example)(text) if example is not None else text


def same(a, b):
    return bits(a) == bits(b) if isinstance(a, float) and isinstance(b, float) else a == b and type(a) is type(b)


def record_in(file):
    return json.loads(pyarrow.parquet.read_metadata(file).metadata[KEY])


def compare(stem, record):
    with open(stem + ".csv", newline="") as file:
        header, *rows = list(csv.reader(file))
    table = pyarrow.parquet.read_table(stem + ".parquet")
    frame = polars.read_parquet(stem + ".parquet")
    assert table.column_names == header, f"{stem}: pyarrow has the columns {table.column_names}"
    assert frame.columns == header, f"{stem}: polars has the columns {frame.columns}"
    assert table.num_rows == frame.height == len(rows) > 0, f"{stem}: {table.num_rows}, {frame.height}, {len(rows)} rows"
    for column, name in enumerate(header):
        by_pyarrow, by_polars = table.column(column).to_pylist(), frame[name].to_list()
        example = next((cell for cell in by_pyarrow if cell is not None), None)
        for row, cells in enumerate(zip(by_pyarrow, by_polars)):
            expected = value(rows[row][column], example)
            assert all(same(cell, expected) for cell in cells), f"{stem}, {name}, row {row}: {cells}, not {expected!r}"
    within = record_in(stem + ".parquet")
    with open(record) as file:
        beside = json.load(file)
    # A file does not say how long it took, so that equal runs have equal files.
    del beside["wall_seconds"]
    # Nor does it say where it is.
    if within["message"] is not None:
        message = within.pop("message")
        assert beside.pop("message").startswith(message + "; the trajectory until then is in "), f"{stem}: {message}"
    assert within == beside, f"{stem}: the records differ"
    print(f"{stem}: {len(rows)} rows of {len(header)} columns")


def compare_parts(folder, file):
    table, frame = pyarrow.parquet.read_table(file), polars.read_parquet(file)
    assert table.num_rows > 0 and pyarrow.parquet.read_table(folder).equals(table), f"{folder}: pyarrow has other rows"
    assert polars.read_parquet(folder).equals(frame), f"{folder}: polars has other rows"
    whole, failed = record_in(file), 0
    for part in sorted(os.listdir(folder)):
        record = record_in(folder + part)
        assert record["status"] == "part", f"{part}: {record['status']}"
        failed += record["failed"]
        for key in ["model", "members", "seed", "vary", "method", "versions", "code_sha256"]:
            assert record[key] == whole[key], f"{part}: the records differ in {key}"
    assert failed == whole["failed"] > 0, f"{folder}: {failed} members failed, and not {whole['failed']}"
    print(f"{folder}: {table.num_rows} rows of {table.num_columns} columns")


for pair in sys.argv[1:]:
    one, other = pair.split(":")
    compare_parts(one, other) if one.endswith("/") else compare(one, other)
