"""Loaders of the paper's three measured data sets.

A file is accepted only if its SHA-256 is that of the published file. A download has another
layout. It is brought into the layout of the files and checked by a fingerprint: a changed value, or
another order of rows or columns, changes the fingerprint by more than the rounding of copies does.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

from kernelknife._utils.messages import import_optional

__all__ = ["DataFileError", "load_colon", "load_parkinsons", "load_vowel"]

VARIABLE = "KERNELKNIFE_DATA"  # the environment variable that names the data folder
VOWELS = ("i", "I", "E", "A", "a:", "Y", "O", "C:", "U", "u:", "3:")
VOWEL_ROWS_PER_SPEAKER = 66  # six frames of each of the eleven vowels
VOWEL_TRAINING_ROWS = 528  # those of the first eight speakers
# The download does not name the subjects of the Parkinson's data: number of recordings of every
# subject, in the order of the published rows.
RECORDINGS_PER_SUBJECT = {
    **dict.fromkeys((1, 2, 4, 5, 6, 7, 8, 10, 13, 16, 17, 18, 19, 20), 6),
    **{21: 7, 22: 6, 24: 6, 25: 6, 26: 6, 27: 7, 31: 6, 32: 6, 33: 6, 34: 6, 35: 7, 37: 6},
    **dict.fromkeys((39, 42, 43, 44, 49, 50), 6),
}
# The download does not name the patients of the colon data: number of the patient, negative for a
# tumor and positive for a normal tissue, in the order of the published rows.
COLON_SAMPLES = (
    *(sign * patient for patient in range(1, 13) for sign in (-1, 1)),
    *range(-13, -27, -1),
    *(27, -27, -28, 28, 29, -29, -30, -31, -32, 32, -33, 33, 34, -34, -35, 35, 36, -36),
    *(-37, -38, -39, 39, -40, 40),
)
PARKINSONS_COLUMNS = (
    *("MDVP:Fo(Hz)", "MDVP:Fhi(Hz)", "MDVP:Flo(Hz)", "MDVP:Jitter(%)", "MDVP:Jitter(Abs)"),
    *("MDVP:RAP", "MDVP:PPQ", "Jitter:DDP", "MDVP:Shimmer", "MDVP:Shimmer(dB)", "Shimmer:APQ3"),
    *("Shimmer:APQ5", "MDVP:APQ", "Shimmer:DDA", "NHR", "HNR", "RPDE", "DFA", "spread1"),
    *("spread2", "D2", "PPE"),
)


class DataFileError(OSError):
    """A data file is missing, cut short or altered, and no download replaced it."""


@dataclass(frozen=True)
class DataSource:
    """Where a data set comes from, and how to recognize it.

    Attributes
    ----------
    name : str
    files : dict of str
        SHA-256 by name of file.
    openml : int
        Number of the data set at OpenML.
    shape : tuple of int
        Number of rows and of features.
    fingerprint : float
        :func:`fingerprint` of the features.
    rounding : float
        Largest relative difference of the fingerprint that rounding can explain.
    """

    name: str
    files: dict[str, str]
    openml: int
    shape: tuple[int, int]
    fingerprint: float
    rounding: float = 1e-10


VOWEL = DataSource(
    "vowel",
    {
        "vowel_train.csv": "ceb5b014495bf0c0c42b3dd74ac02327cf31add7c1030ce259f3c6eb9195fdf4",
        "vowel_test.csv": "b91b4ed062bc6f05ceef5427c761d88ec22bd9a4e0adcf94070d28a4faf4a094",
    },
    openml=307,
    shape=(990, 10),
    fingerprint=-459.890298930,
)
PARKINSONS = DataSource(
    "parkinsons",
    {"parkinsons.csv": "455009076cd278efb0b2fb9307c0682834c477fa582ca6c10367128dd7a1c6db"},
    openml=1488,
    shape=(195, 22),
    fingerprint=14480.3176528,
)
COLON = DataSource(
    "colon",
    {
        "colon.csv.gz": "aae47af3c54b1af7d5529157f70911d5cffa8087c1cbc3a237b5659b97483efb",
        "colon_samples.csv": "d99e47cf116af4a13ccf3bcb3bdd4a86222365acb10177fddf69fa941772932d",
    },
    openml=45087,
    shape=(62, 2000),
    fingerprint=1745189.25940,
    rounding=1e-7,  # some copies have only two decimals
)


def load_vowel(*, data_home=None, download=True):
    """Vowel recognition: eleven vowels of English, spoken by fifteen people.

    Parameters
    ----------
    data_home : path, default=None
        Folder with the files. None takes the folder that the environment variable
        ``KERNELKNIFE_DATA`` names.
    download : bool, default=True
        Whether to fetch the data from OpenML if the folder does not have them.

    Returns
    -------
    Bunch
        ``data`` (frame, 990 x 10), ``target`` (series of vowels), ``groups`` (speaker), ``train``
        (mask of the 528 rows of the training speakers), ``feature_names``, ``target_names``,
        ``DESCR``.

    Examples
    --------
    The data are not shipped. They come from files that you have, or from OpenML.

    >>> from kernelknife.datasets import load_vowel
    >>> load_vowel().data.shape  # doctest: +SKIP
    (990, 10)
    >>> load_vowel(data_home=".", download=False)
    Traceback (most recent call last):
    ...
    kernelknife.datasets._measured.DataFileError: The ... data are not there. Put ....
    """
    pandas = _pandas("load_vowel")
    files = _files(VOWEL, data_home)
    if files is not None:
        table = pandas.concat([pandas.read_csv(file) for file in files], ignore_index=True)
        codes = table.pop("y").to_numpy() - 1
        train = np.arange(len(table)) < VOWEL_TRAINING_ROWS
    else:
        frame = _download(VOWEL, data_home, download)
        train = frame["Train_or_Test"].astype(str).str.lower().eq("train").to_numpy()
        table = _numbers(VOWEL, frame[[f"Feature_{j}" for j in range(10)]])
        table.columns = [f"x.{j + 1}" for j in range(10)]
        codes = np.arange(len(table)) % len(VOWELS)  # the rows repeat the vowels in order
    names = np.array(VOWELS, dtype=object)
    return Bunch(
        data=table,
        target=pandas.Series(names[codes], name="vowel"),
        groups=pandas.Series(np.arange(len(table)) // VOWEL_ROWS_PER_SPEAKER + 1, name="speaker"),
        train=train,
        feature_names=list(table.columns),
        target_names=list(VOWELS),
        DESCR=(
            "Ten log area ratios of eleven vowels, six frames each of fifteen speakers "
            "(D. H. Deterding 1989; A. J. Robinson 1989; UCI, doi:10.24432/C58P4S, CC BY 4.0). "
            "Eight speakers train, seven others test. Frames of a speaker are not independent."
        ),
    )


def load_parkinsons(*, data_home=None, download=True):
    """Load voice measures of 32 people, 24 of them with Parkinson's disease.

    Parameters
    ----------
    data_home : path, default=None
        See :func:`load_vowel`.
    download : bool, default=True
        See :func:`load_vowel`.

    Returns
    -------
    Bunch
        ``data`` (frame, 195 x 22), ``target`` (series, 1 for the disease), ``groups`` (subject),
        ``feature_names``, ``target_names``, ``DESCR``.

    Examples
    --------
    The data are not shipped. They come from files that you have, or from OpenML.

    >>> from kernelknife.datasets import load_parkinsons
    >>> load_parkinsons().data.shape  # doctest: +SKIP
    (195, 22)
    >>> load_parkinsons(data_home=".", download=False)
    Traceback (most recent call last):
    ...
    kernelknife.datasets._measured.DataFileError: The ... data are not there. Put ....
    """
    pandas = _pandas("load_parkinsons")
    files = _files(PARKINSONS, data_home)
    if files is not None:
        table = pandas.read_csv(files[0])
        groups = table.pop("name").str.extract(r"_(S\d+)_")[0]
        target = table.pop("status")
    else:
        frame = _download(PARKINSONS, data_home, download)
        table = _numbers(PARKINSONS, frame.iloc[:, :22])
        table.columns = PARKINSONS_COLUMNS
        target = (frame.iloc[:, 22].astype(int) == 2).astype(int)
        subjects = [f"S{number:02d}" for number in RECORDINGS_PER_SUBJECT]
        groups = pandas.Series(np.repeat(subjects, list(RECORDINGS_PER_SUBJECT.values())))
    return Bunch(
        data=table,
        target=target.rename("status"),
        groups=groups.rename("subject"),
        feature_names=list(table.columns),
        target_names=["healthy", "Parkinson's"],
        DESCR=(
            "22 measures of 195 voice recordings of 32 people, 24 with Parkinson's disease (M. A. "
            "Little and others 2007, 2009; UCI, doi:10.24432/C59C74, CC BY 4.0; the description "
            "there says 31 people). Recordings of a person are not independent."
        ),
    )


def load_colon(*, data_home=None, download=True):
    """Colon cancer: 2,000 genes in 40 tumors and 22 normal tissues.

    Parameters
    ----------
    data_home : path, default=None
        See :func:`load_vowel`.
    download : bool, default=True
        See :func:`load_vowel`. Only the original intensities are accepted, not the scaled or
        discretized tables that are published under the same name.

    Returns
    -------
    Bunch
        ``data`` (frame, 62 x 2000, raw intensities), ``target`` (series, "normal" or "tumor"),
        ``groups`` (patient; 22 of the 40 gave both tissues), ``feature_names``,
        ``target_names``, ``DESCR``.

    Examples
    --------
    The data are not shipped. They come from files that you have, or from OpenML.

    >>> from kernelknife.datasets import load_colon
    >>> load_colon().data.shape  # doctest: +SKIP
    (62, 2000)
    >>> load_colon(data_home=".", download=False)
    Traceback (most recent call last):
    ...
    kernelknife.datasets._measured.DataFileError: The ... data are not there. Put ....
    """
    pandas = _pandas("load_colon")
    files = _files(COLON, data_home)
    if files is not None:
        table = pandas.read_csv(files[0])
        target = table.pop("label")
        groups = pandas.read_csv(files[1])["patient"]
    else:
        frame = _download(COLON, data_home, download)
        table = _numbers(COLON, frame.iloc[:, :2000])
        codes = np.array(COLON_SAMPLES)
        target = pandas.Series(np.where(codes < 0, "tumor", "normal"))
        groups = pandas.Series(np.abs(codes))
    return Bunch(
        data=table,
        target=target.rename("label"),
        groups=groups.rename("patient"),
        feature_names=list(table.columns),
        target_names=["normal", "tumor"],
        DESCR=(
            "Affymetrix intensities of the 2,000 genes of highest minimal intensity in 62 tissues "
            "(U. Alon and others 1999, PNAS 96, 6745-6750). 22 patients gave a tumor and a "
            "normal tissue, so rows are not independent."
        ),
    )


def _pandas(purpose):
    """Return pandas, or raise an error that says how to install it."""
    return import_optional("pandas", "kernelknife[data]", purpose)


def _folder(data_home):
    """Return the folder with the data files, None if neither argument nor environment has one."""
    folder = os.environ.get(VARIABLE) if data_home is None else data_home
    return None if not folder else Path(folder).expanduser()


def _files(source, data_home):
    """Return the paths of a data set's files after a check, None if the folder has none of them."""
    folder = _folder(data_home)
    if folder is None:
        return None
    if not folder.is_dir():
        raise DataFileError(f"The data folder {folder} does not exist: create it, or name another.")
    paths = [folder / name for name in source.files]
    missing = [path.name for path in paths if not path.is_file()]
    if len(missing) == len(paths):
        return None
    if missing:
        raise DataFileError(
            f"{folder} has only some of the files of the {source.name} data: put "
            f"{' and '.join(missing)} there too."
        )
    for path, expected in zip(paths, source.files.values(), strict=True):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest != expected:
            raise DataFileError(
                f"{path} is cut short or altered: its SHA-256 is {digest[:12]}..., expected "
                f"{expected[:12]}.... Replace it by the published file."
            )
    return paths


def _download(source, data_home, allowed):
    """Return OpenML's frame of a data set, or raise an error that names files and folder."""
    folder = _folder(data_home)
    place = f"a folder named by {VARIABLE} or data_home" if folder is None else str(folder)
    remedy = f"Put {' and '.join(source.files)} into {place}."
    if not allowed:
        raise DataFileError(f"The {source.name} data are not there. {remedy}")
    try:
        # The pandas parser fails where classes are numbers, as in the Parkinson's data.
        frame = fetch_openml(data_id=source.openml, as_frame=True, parser="liac-arff").frame
    # No network, a changed service, a broken file: whatever went wrong, the remedy is the same.
    except Exception as error:
        raise DataFileError(
            f"The {source.name} data are not there, and OpenML's data set {source.openml} could "
            f"not be fetched ({type(error).__name__}: {error}). {remedy}"
        ) from error
    # Beside the features there must be at least the column of the target.
    if len(frame) != source.shape[0] or frame.shape[1] <= source.shape[1]:
        raise DataFileError(
            f"OpenML's data set {source.openml} has {frame.shape[0]} rows and {frame.shape[1]} "
            f"columns, but the {source.name} data have {source.shape[0]} rows and more than "
            f"{source.shape[1]} columns. {remedy}"
        )
    return frame


def _numbers(source, frame):
    """Return the features of a download as numbers, after a check that they are the published."""
    table = frame.astype(float).reset_index(drop=True)
    actual = fingerprint(table.to_numpy())
    if not np.isclose(actual, source.fingerprint, rtol=source.rounding, atol=0.0):
        raise DataFileError(
            f"OpenML's data set {source.openml} is not the {source.name} data as published: "
            f"fingerprint {actual:.9g}, expected {source.fingerprint:.9g}. Put "
            f"{' and '.join(source.files)} into a folder named by {VARIABLE} or data_home."
        )
    return table


def fingerprint(values):
    """Return a number that depends on every value and on the order of rows and columns.

    It is a weighted sum of the cube roots of the values. No two rows and no two columns have the
    same weight, so another order gives another sum. The cube root keeps large values from hiding a
    change of small ones.
    """
    rows = 1.5 + np.cos(np.arange(len(values)))
    columns = 1.5 + np.sin(np.arange(values.shape[1]))
    return float(rows @ np.cbrt(values) @ columns)
