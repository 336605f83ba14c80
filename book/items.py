"""A preprocessor of mdBook: links to items of the crate, which rustdoc resolves, become the names of the items."""

import json
import re
import sys


def without_items(value):
    if isinstance(value, str):
        return re.sub(r"\[([^][]*)\]\(crate::[^)]*\)", r"\1", value)
    if isinstance(value, list):
        return [without_items(entry) for entry in value]
    if isinstance(value, dict):
        return {key: without_items(entry) for key, entry in value.items()}
    return value


# mdBook first asks whether a renderer is supported.
if sys.argv[1:2] != ["supports"]:
    _, book = json.load(sys.stdin)
    json.dump(without_items(book), sys.stdout)
