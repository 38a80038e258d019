"""The program that is installed with the package."""

import importlib.metadata
import os
import re
import sysconfig
from pathlib import Path, PurePosixPath

import pytest

import compactord
from compactord import binary as program
from compactord import connection
from failures import raising


class Listed(PurePosixPath):
    """A file in the list of a package, which is beside the programs."""

    def locate(self) -> Path:
        return Path(str(self))


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No program is named, installed or on the PATH."""
    monkeypatch.delenv("COMPACTORD_BINARY", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    installed(monkeypatch)


def installed(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> None:
    def files(_: str) -> list[Listed]:
        return [Listed("compactord/__init__.py"), *(Listed(path.as_posix()) for path in paths)]

    monkeypatch.setattr(importlib.metadata, "files", files)


name = "compactord" + (sysconfig.get_config_var("EXE") or "")


@pytest.mark.usefixtures("nothing")
def test_the_installed_program_is_found_before_the_one_on_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    on_path = executable(tmp_path / "path" / name)
    monkeypatch.setenv("PATH", str(on_path.parent))
    assert program.find_binary(None) == str(on_path)
    own = executable(tmp_path / "environment" / "bin" / name)
    installed(monkeypatch, own)
    assert program.find_binary(None) == str(own)
    monkeypatch.setenv("COMPACTORD_BINARY", str(on_path))
    assert program.find_binary(None) == str(on_path)
    assert program.find_binary(own) == str(own)


@pytest.mark.usefixtures("nothing")
def test_a_program_that_was_removed_is_not_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed(monkeypatch, tmp_path / "bin" / name)
    with raising("BINARY_NOT_FOUND") as raised:
        program.find_binary(None)
    assert "go install" in str(raised.value) and sysconfig.get_platform() in str(raised.value)


@pytest.mark.usefixtures("nothing")
def test_the_command_that_starts_a_daemon_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert program.start_command() == "compactord serve"
    told = connection.unreachable("127.0.0.1:7440", "connection refused")
    assert "`compactord serve` (`go install " in told, "it is not there, so how to make it is told, too"
    own = executable(tmp_path / "bin" / name)
    installed(monkeypatch, own)
    assert program.start_command() == f"{own} serve"
    assert program.to_build() == ""
    with (
        compactord.Client("127.0.0.1:1", retry=False) as client,
        pytest.raises(compactord.UnavailableError, match=re.escape(f"`{own} serve --listen 127.0.0.1:1`")),
    ):
        client.create_session()
    monkeypatch.setenv("PATH", os.fspath(own.parent))
    assert program.start_command() == "compactord serve"


@pytest.mark.usefixtures("nothing")
def test_programs_beside_packages_in_one_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(program, "__file__", str(tmp_path / "compactord" / "binary.py"))
    own = executable(tmp_path / "bin" / name)
    assert program.own_binary() == str(own)
