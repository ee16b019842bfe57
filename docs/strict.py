"""Examples of the gallery may not warn: the tests leave it to the gallery to run them."""

import warnings

__all__ = ["warnings_as_errors"]


def warnings_as_errors(gallery_conf, example):
    """Turn warnings into errors before an example runs, but those for developers.

    Parameters
    ----------
    gallery_conf : dict
        Of sphinx-gallery.
    example : str
        Name of its file.
    """
    for category in (UserWarning, RuntimeWarning, FutureWarning):
        warnings.simplefilter("error", category)
