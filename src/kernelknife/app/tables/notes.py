"""What reading a file has left out or guessed, kept with the data frame until it is printed."""

__all__ = ["add_reading_note", "reading_notes"]

KEY = "kernelknife reading notes"  # in ``DataFrame.attrs``, which pandas gives to its users


def add_reading_note(frame, note: str) -> None:
    """Keep a note on how a data frame was read with the data frame."""
    frame.attrs[KEY] = [*frame.attrs.get(KEY, []), note]


def reading_notes(frame) -> list[str]:
    """Return what :func:`kernelknife.app.tables.read_table` has left out or guessed.

    Parameters
    ----------
    frame : DataFrame
        As ``read_table`` returned it. Other data frames have no notes.
    """
    return list(frame.attrs.get(KEY, []))
