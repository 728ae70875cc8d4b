"""Files that are whole at any moment, and a disk that is full."""

import os
import resource
import signal
import subprocess
import sys

import pytest

from limpet.errors import StorageError
from limpet.storage.files import AppendedFile, remove_unfinished, replacing, write_whole
from limpet.storage.lock import LOCK, FolderLock, LockedError, check_unlocked


@pytest.fixture
def full_disk():
    """Files of this process may have 1000 bytes at most: writing more fails as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, ignored)


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "a.json"
    write_whole(path, "old")
    with pytest.raises(ZeroDivisionError), replacing(path) as unfinished:
        unfinished.write_text("half of the n")
        assert path.read_text() == "old"
        raise ZeroDivisionError
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]
    assert path.read_text() == "old"
    write_whole(path, b"new")
    assert path.read_text() == "new"


def test_a_full_disk_keeps_the_old_file(tmp_path, full_disk):
    path = tmp_path / "a.json"
    write_whole(path, "old")
    with pytest.raises(StorageError, match=r"a\.json': cannot be written \(File too large\)"):
        write_whole(path, bytes(2000))
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_a_record_that_does_not_fit_leaves_no_trace(tmp_path, full_disk):
    file = AppendedFile(tmp_path / "a.csv")
    file.append(b"x" * 600)
    with pytest.raises(StorageError, match="cannot be written"):
        file.append(b"y" * 600)  # 400 of them would fit
    assert (tmp_path / "a.csv").read_bytes() == b"x" * 600
    file.append(b"z" * 400)
    assert (tmp_path / "a.csv").stat().st_size == 1000


def test_a_file_is_continued_where_its_records_end(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"one\ntwo\nthr")
    file = AppendedFile(path, keep=8)
    file.append(b"four\n")
    assert path.read_bytes() == b"one\ntwo\nfour\n"


def test_what_a_killed_process_left_is_removed(tmp_path):
    (tmp_path / ".part-1-frames.npz").write_text("")
    (tmp_path / "mine").write_text("")
    remove_unfinished(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]


def test_a_lock_is_released_when_its_process_is_killed(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from limpet.storage.lock import FolderLock\n"
        "lock = FolderLock(Path(sys.argv[1])); print('locked', flush=True); time.sleep(60)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "locked\n"
    for attempt in (FolderLock, check_unlocked):
        with pytest.raises(LockedError) as refused:
            attempt(tmp_path)
        assert refused.value.owner == f"process {other.pid}"
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    check_unlocked(tmp_path)
    lock = FolderLock(tmp_path)
    lock.release()
    assert not (tmp_path / LOCK).exists()


def test_of_two_that_wait_for_a_removed_lock_one_gets_it(tmp_path):
    first = FolderLock(tmp_path)
    opened = os.open(tmp_path / LOCK, os.O_RDWR)  # as a process does that is about to lock it
    first.release()
    second = FolderLock(tmp_path)
    with pytest.raises(LockedError):
        FolderLock(tmp_path)
    os.close(opened)
    second.release()
