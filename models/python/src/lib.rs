//! The models that come with fbint as the Python module `fbint_models`.

fbint_python::module!(fbint_models = catalogue::all());
