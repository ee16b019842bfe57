"""Files are written whole or not at all, and links, pipes and permissions stay what they were."""

import os
import stat
import subprocess

import pytest

from kernelknife._utils.files import write_file


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    write_file(path, "old")
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_file(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file.txt"]


def test_a_written_file_keeps_its_permissions(tmp_path):
    for mode in (0o600, 0o664, 0o640):
        path = tmp_path / f"{mode}.txt"
        path.touch()
        path.chmod(mode)
        write_file(path, "new")
        assert stat.S_IMODE(path.stat().st_mode) == mode
        assert path.read_text() == "new"
    write_file(tmp_path / "fresh", "new")
    (tmp_path / "usual").touch()
    assert (tmp_path / "fresh").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_symbolic_link_is_followed(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, there in (("old", True), ("not yet there", False)):
        if there:
            (folder / name).write_text("old")
        link = tmp_path / f"link to {name}"
        link.symlink_to(folder / name)
        write_file(link, "new")
        assert link.is_symlink()
        assert (folder / name).read_text() == "new"
    assert len(list(folder.iterdir())) == 2


def test_devices_and_pipes_are_written_to(tmp_path):
    write_file("/dev/null", "nothing")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        write_file(pipe, "through the pipe")
        assert reader.communicate(timeout=60)[0] == b"through the pipe"
    assert pipe.is_fifo()


def test_a_name_of_full_length_can_be_written(tmp_path):
    path = tmp_path / ("n" * 250)
    write_file(path, "text")
    assert path.read_text() == "text"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_protected_file_is_not_replaced(tmp_path):
    path = tmp_path / "keep"
    path.write_text("old")
    path.chmod(0o400)
    with pytest.raises(PermissionError):
        write_file(path, "new")
    assert path.read_text() == "old"
