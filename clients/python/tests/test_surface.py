"""What the package exports grows only on purpose: exceptions that few programs catch are told apart by their reason."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import compactord
from compactord import errors

EXCEPTIONS = """
    CompactordError ConflictError ContextOverflowError DeadlineExceededError InvalidRequestError NotFoundError
    SessionExistsError SessionNotFoundError SyncConflictError ToolCallsOpenError TurnAbortedError UnauthenticatedError
    UnavailableError WrongNextIndexError
"""

OTHERS = """
    AgentTools AsyncAgentTools AsyncClient AsyncCompaction AsyncSession AsyncWatch Client Compaction Session TLS Watch
    Appended Checkpoint ChildEnded Compacted CompactionResult ContextChanged Pinned Prompt PromptAnswer Reverted
    SessionInfo Synced ToolCall ToolOutput ToolRejected Turn View
    CompactordWarning
    AnswerLike Appendable BlockContent Dialect Policy SDKObject Token
    assistant async_embedded block developer embedded system tool_result user word
    v1 __version__
"""


def test_the_package_exports_these_names() -> None:
    assert sorted(compactord.__all__) == sorted(EXCEPTIONS.split() + OTHERS.split())


def test_the_dialect_is_given_the_same_way_everywhere() -> None:
    taking = [
        (kind, name)
        for kind in (compactord.Client, compactord.AsyncClient, compactord.Session, compactord.AsyncSession)
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if "dialect" in inspect.signature(method).parameters and not name.startswith("_")
    ]
    assert {name for _, name in taking} == {"compacted", "count_tokens", "create_session", "open_session", "session"}
    for kind, name in taking:
        dialect = inspect.signature(getattr(kind, name)).parameters["dialect"]
        assert (dialect.kind, dialect.default) == (inspect.Parameter.KEYWORD_ONLY, None), name


def test_there_are_no_other_exceptions() -> None:
    kinds = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert kinds == set(EXCEPTIONS.split())


def test_nobody_imports_an_adapter_or_its_framework_who_does_not_ask_for_it() -> None:
    folder = Path(compactord.__file__).parent
    adapters = {path.stem for path in (Path(__file__).parents[1] / "frameworks").glob("*.txt")}
    assert adapters
    frameworks = {
        "agents",
        "google.adk",
        "google.genai",
        "langchain",
        "langchain_core",
        "langgraph",
        "litellm",
        "pydantic_ai",
    }
    for adapter in adapters:
        assert (folder / f"{adapter}.py").is_file(), adapter
    program = "import sys, compactord; print(*sorted(sys.modules), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    imported = set(done.stdout.split())
    assert "compactord.lists" in imported
    messages = ["google_adk_contents", "langchain_messages", "openai_agents_items", "pydantic_ai_messages"]
    shared = [*messages, "opened", "recall_tools", "whole_list"]
    unasked = {f"compactord.{name}" for name in [*adapters, *shared]}
    assert not imported & (unasked | frameworks)
    # So that an import stays quick, it is of no packages but those that each call needs.
    packages = {name.split(".")[0] for name in imported} - {*sys.stdlib_module_names, "cython_runtime"}
    needed = {"compactord", "google", "grpc", "typing_extensions"}
    # Where they are installed, grpc looks for its generators.
    assert {name for name in packages if not name.startswith("_")} - needed <= {"grpc_tools"}
