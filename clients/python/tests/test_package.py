"""The package as it is published: built, installed where nothing else is, and used from there."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from importlib.metadata import version
from pathlib import Path

import pytest

from compactord.__main__ import main

PROJECT = Path(__file__).resolve().parent.parent
SOURCE = PROJECT / "src"

CONSUMER = """
from collections.abc import Iterator

import compactord
from compactord import v1


def fill(client: compactord.Client) -> Iterator[str]:
    session = client.create_session("typed", dialect="openai_chat")
    appended = session.append("What is new?")
    yield str(appended.next_index + 1)
    view = session.view()
    yield view.token
    for message in view.messages_json:
        yield message.upper()


async def fill_async(client: compactord.AsyncClient) -> int:
    session = await client.create_session("typed", dialect="anthropic")
    return (await session.append("What is new?")).next_index


def full(report: v1.ContextReport) -> bool:
    return report.should_compact


reveal_type(compactord.Client.create_session)
reveal_type(v1.ContextReport().tokens)
"""

MISTAKES = """
import compactord
from compactord import v1

session = compactord.Client().session("typed")
session.append("right", {"role": "user"}, [v1.Message()], b"{}")
session.append(None)  # wrong
session.append(session.view)  # wrong
session.run_turn(lambda view: "right")
session.run_turn(lambda view: None)  # wrong
v1.ContextReport().tokens
v1.ContextReport().no_such_field  # wrong
"""

IMPORTS = """
import sys
from pathlib import Path

import compactord
from compactord import v1

assert Path(compactord.__file__).is_relative_to(sys.prefix), compactord.__file__
assert v1.Session(session_id="one").session_id == "one"
assert compactord.Client("127.0.0.1:1").close() is None
assert sys.version_info[:2] == tuple(map(int, sys.argv[1].split(".")))
"""


def run(*command: str | Path, cwd: Path = PROJECT) -> str:
    """Run a program, whose output the error shows if it fails, and return what it printed."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the source distribution, and the wheel that is built from it."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, PROJECT)
    return out


def only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return only(built, "*.whl")


def modules() -> set[str]:
    """What is to be in the package: all files below its name."""
    files = (SOURCE / "compactord").rglob("*")
    return {path.relative_to(SOURCE).as_posix() for path in files if path.is_file() and "__pycache__" not in path.parts}


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(f"compactord-{version('compactord')}.dist-info/METADATA").decode()
    about = {name for name in names if name.startswith(f"compactord-{version('compactord')}.dist-info/")}
    documents = {"compactord/docs/README.md", "compactord/docs/api.md"}
    assert names - about == modules() | documents
    assert {name.partition("/")[2] for name in about} == {"METADATA", "RECORD", "WHEEL", "licenses/LICENSE"}
    assert "License-Expression: Apache-2.0" in metadata
    assert (PROJECT / "README.md").read_text(encoding="utf-8").strip() in metadata


def test_the_readme_says_what_holds_where_the_package_is_published() -> None:
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    # Beside a page of the index there are no files.
    assert [link for link in re.findall(r"\]\(([^)]*)\)", text) if not link.startswith(("#", "https://"))] == []
    installed = re.findall(r"^\$ pip install (.*)$", text, re.MULTILINE)
    assert installed == ["./compactord-VERSION-py3-none-PLATFORM.whl", "./compactord/clients/python"]
    clone = PROJECT.parents[1]
    assert (clone / installed[1].removeprefix("./compactord/") / "pyproject.toml").samefile(PROJECT / "pyproject.toml")


def test_the_package_alone_installs_no_framework(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = Parser().parsestr(archive.read(f"compactord-{version('compactord')}.dist-info/METADATA").decode())
    required = [one for one in metadata.get_all("Requires-Dist", []) if "extra ==" not in one]
    names = {re.split(r"[^A-Za-z0-9-]", one)[0] for one in required}
    assert names == {"googleapis-common-protos", "grpcio", "protobuf", "typing-extensions"}


def test_the_package_is_typed(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    stubs = {name for name in names if name.endswith(("_pb2.py", "_pb2_grpc.py"))}
    assert {"compactord/py.typed", "compactord/tools.json"} <= names
    assert "compactord/v1/session_service_pb2_grpc.py" in stubs
    assert {f"{name}i" for name in stubs} <= names


def test_the_source_distribution_builds_the_same(built: Path) -> None:
    root = f"compactord-{version('compactord')}"
    with tarfile.open(only(built, "*.tar.gz")) as archive:
        names = {member.name.removeprefix(f"{root}/") for member in archive.getmembers() if member.isfile()}
    extra = {name for name in names if not name.startswith("src/")}
    assert extra - {".gitignore"} == {"LICENSE", "PKG-INFO", "README.md", "docs/api.md", "pyproject.toml"}
    assert names - extra == {f"src/{name}" for name in modules()}


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ([], 2, "usage: python -m compactord readme|api"),
        (["all"], 2, "usage: python -m compactord readme|api"),
        (["api"], 1, "api.md comes with an installed package, and this one runs from its source"),
    ],
)
def test_without_a_document_it_says_what_there_is(
    arguments: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == code
    assert capsys.readouterr().err.startswith(told)


def python_of(environment: Path) -> Path:
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def installed(environment: Path, interpreter: str, *packages: str) -> Path:
    """Make an empty environment, install into it, and return its interpreter."""
    run(interpreter, "-m", "venv", "--without-pip", environment)
    python = python_of(environment)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    run(*pip, "install", "--quiet", "--no-compile", *packages)
    return python


def test_installed_it_imports_and_types_programs(wheel: Path, tmp_path: Path) -> None:
    python = installed(tmp_path / "venv", sys.executable, str(wheel))
    run(python, "-I", "-c", IMPORTS, "{}.{}".format(*sys.version_info), cwd=tmp_path)
    for name, document in (("readme", "README.md"), ("api", "docs/api.md")):
        said = run(python, "-I", "-m", "compactord", name, cwd=tmp_path)
        assert said == (PROJECT / document).read_text(encoding="utf-8")

    program = tmp_path / "consumer.py"
    program.write_text(CONSUMER, encoding="utf-8")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--python-executable", str(python)]
    said = run(*mypy, "--cache-dir", tmp_path / "cache", program, cwd=tmp_path)
    assert 'Revealed type is "def (' in said
    assert 'Revealed type is "int"' in said or 'Revealed type is "builtins.int"' in said


def test_the_extra_types_makes_checkers_see_mistakes(wheel: Path, tmp_path: Path) -> None:
    python = installed(tmp_path / "venv", sys.executable, f"{wheel}[types]")
    program = tmp_path / "mistakes.py"
    program.write_text(MISTAKES, encoding="utf-8")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--python-executable", str(python)]
    done = subprocess.run(
        [*mypy, "--cache-dir", tmp_path / "cache", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    wrong = {number for number, line in enumerate(MISTAKES.splitlines(), 1) if line.endswith("# wrong")}
    assert {int(line) for line in re.findall(r"^mistakes\.py:(\d+): error", done.stdout, re.MULTILINE)} == wrong


def oldest() -> tuple[str, str]:
    """The oldest Python that will do, with its version; the one of this run where it is not there."""
    for name in ("python3.10", sys.executable):
        try:
            asked = "import sys, venv; print('{}.{}'.format(*sys.version_info))"
            done = subprocess.run([name, "-c", asked], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            continue
        if done.returncode == 0:
            return name, done.stdout.strip()
    pytest.fail("no Python runs")


def test_the_oldest_versions_that_it_allows_will_do(wheel: Path, tmp_path: Path) -> None:
    interpreter, found = oldest()
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"compactord-{version('compactord')}.dist-info/METADATA").decode()
    needs = [need for need in Parser().parsestr(metadata).get_all("Requires-Dist", []) if "extra ==" not in need]
    pins = [need.replace(">=", "==") for need in needs]
    assert "grpcio==1.76.0" in pins
    assert all("==" in pin for pin in pins)
    python = installed(tmp_path / "venv", interpreter, str(wheel), *pins)
    run(python, "-I", "-c", IMPORTS, found, cwd=tmp_path)
    if found != "3.10":
        pytest.skip(f"python3.10 is not on PATH: the oldest versions were checked with {found} only")
