"""What the steps of the cases do, with either client, and what they answer."""

from __future__ import annotations

import json
from typing import Any

from google.protobuf import json_format

import compactord
from case_runner import Runner, Step, content, everything, request, settled
from case_table import Json, all_json, as_json
from compactord import v1


async def _create_session(runner: Runner, step: Json) -> Json:
    asked = request(step, v1.CreateSessionRequest())
    made = runner.client.create_session(
        step["session"],
        policy=step.get("policy"),
        dialect=runner.dialect(step),
        labels=dict(asked.labels),
        title=asked.title,
        estimator=_word(step.get("estimator"), "ESTIMATOR_"),
    )
    runner.keep_session(step, await settled(made))
    return {}


async def _info(runner: Runner, step: Json) -> Json:
    info = await settled(runner.session(step).info())
    return {"session": as_json(info.session), "report": as_json(info.report)}


async def _update(runner: Runner, step: Json) -> Json:
    changed = runner.session(step).update(policy=step.get("policy"), labels=step.get("labels"), title=step.get("title"))
    return {"session": as_json(await settled(changed))}


async def _delete(runner: Runner, step: Json) -> Json:
    await settled(runner.session(step).delete(children=_word(step.get("children", "keep"), "CHILDREN_ON_DELETE_")))
    return {}


async def _list_sessions(runner: Runner, step: Json) -> Json:
    listed = runner.client.list_sessions(
        labels=step.get("labels"),
        forked_from=step.get("forked_from_session_id"),
        order=_word(step.get("order", "created"), "SESSION_ORDER_"),
        page_size=step.get("page_size", 0),
    )
    return {"sessions": all_json(await everything(listed))}


async def _append(runner: Runner, step: Json) -> Json:
    appended = await settled(
        runner.session(step).append(
            *content(step),
            view=runner.last_view(step) if step.get("from_view") else None,
            model_answer=step.get("model_answer", False),
            strict=step.get("strict", False),
            expected_next_index=step.get("expected_next_index"),
            request_id=step.get("request_id"),
        )
    )
    return {
        "first_index": appended.first_index,
        "next_index": appended.next_index,
        "report": as_json(appended.report),
        "findings": all_json(appended.findings),
        "answer": as_json(appended.answer),
    }


async def _view(runner: Runner, step: Json) -> Json:
    fetched = runner.session(step).view(
        thinking=_word(step.get("thinking"), "THINKING_POLICY_"),
        mark_cache_breakpoints=step.get("mark_cache_breakpoints", False),
        extra_blocks=request(step, v1.GetLLMViewRequest()).extra_blocks,
        as_of=step.get("as_of"),
        max_bytes=step.get("max_bytes"),
    )
    view = await settled(fetched)
    if "as_of" not in step:
        runner.keep_view(step, view)
    return _shown(view) | {
        "sent": view.messages_sent,
        "report": as_json(view.report),
        "disable_thinking": view.disable_thinking,
    }


async def _compact(runner: Runner, step: Json) -> Json:
    return _result(await settled(runner.session(step).compact(**_compaction(step))))


async def _compaction_events(runner: Runner, step: Json) -> Json:
    kinds: list[str] = []
    for event in await everything(runner.session(step).compacting(**_compaction(step))):
        kind = event.WhichOneof("event") or ""
        if kind != "heartbeat" and kinds[-1:] != [kind]:
            kinds.append(kind)
    return {"events": kinds}


async def _prune(runner: Runner, step: Json) -> Json:
    dry_run = step.get("dry_run", False)
    pruned = await settled(
        runner.session(step).prune(
            reason=_word(step.get("reason", "manual"), "COMPACTION_REASON_"),
            dry_run=dry_run,
            policy=step.get("policy"),
            request_id=step.get("request_id"),
        )
    )
    told = as_json(pruned)
    told["reason"] = told.pop("skip_reason", None)
    told["outcome"] = "skipped" if told["reason"] else "planned" if dry_run else "completed"
    return told


async def _plan(runner: Runner, step: Json) -> Json:
    asked = request(step, v1.PlanCompactionRequest())
    planned = runner.session(step).plan_compaction(
        focus=asked.focus,
        policy=step.get("policy"),
        client_plan=asked.client_plan if asked.HasField("client_plan") else None,
        fold=asked.fold if asked.HasField("fold") else None,
    )
    runner.plan = await settled(planned)
    return as_json(runner.plan)


async def _commit(runner: Runner, step: Json) -> Json:
    asked = request(step, v1.CommitCompactionRequest())
    asked.plan_token = runner.plan.plan_token
    return _result(await settled(runner.session(step).commit_compaction(asked)))


async def _compact_with(runner: Runner, step: Json) -> Json:
    answer = compactord.PromptAnswer(step["answer"], model=step["model"])
    session, fold = runner.session(step), _compaction(step).get("fold")
    if isinstance(session, compactord.Session):
        return _result(session.compact_with(lambda _: answer, fold=fold))

    async def write(_: compactord.Prompt) -> compactord.PromptAnswer:
        return answer

    return _result(await session.compact_with(write, fold=fold))


async def _tool(runner: Runner, step: Json) -> Json:
    given = step["arguments"]
    written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    call = compactord.ToolCall(id="call", name=step["name"], arguments=written, index=0)
    output = await settled(runner.tools(step).handle(call))
    assert output is not None
    return {"text": output.text, "is_error": output.is_error}


async def _checkpoint(runner: Runner, step: Json) -> Json:
    made = await settled(runner.session(step).checkpoint(step.get("title", ""), announce=step.get("announce", False)))
    return as_json(v1.Checkpoint(id=made.id, point=made.point, title=made.title, marker_index=made.marker_index))


async def _checkpoints(runner: Runner, step: Json) -> Json:
    listed = await everything(runner.session(step).checkpoints(page_size=step.get("page_size", 0)))
    for each in listed:
        each.sequence = 0  # the checkpoint's point
    return {"checkpoints": all_json(listed)}


async def _revert(runner: Runner, step: Json) -> Json:
    reverted = runner.session(step).revert(
        to_checkpoint=step.get("checkpoint_id"),
        point=step.get("point"),
        turns=step.get("turns"),
        undo=step.get("undo", False),
        message_from_future=step.get("message_from_future", ""),
        summarize=step.get("summarize", False),
        focus=step.get("focus", ""),
    )
    return _reverted(await settled(reverted))


async def _clear(runner: Runner, step: Json) -> Json:
    return _reverted(await settled(runner.session(step).clear()))


async def _fork(runner: Runner, step: Json) -> Json:
    forked = runner.session(step).fork(
        step.get("new_session_id"),
        at_checkpoint=step.get("checkpoint_id"),
        point=step.get("point"),
        labels=step.get("labels"),
        title=step.get("title", ""),
    )
    runner.keep_session(step, await settled(forked))
    return {}


async def _child(runner: Runner, step: Json) -> Json:
    asked = request(step, v1.ForkSessionRequest())
    started = runner.session(step).start_child(
        asked.new_session_id,
        sees="everything" if asked.child.sees == v1.ChildSees.CHILD_SEES_EVERYTHING else "nothing",
        messages=asked.child.indexes,
        blocks=asked.child.blocks,
        instructions=asked.child.instructions,
        point=asked.point if asked.WhichOneof("at") == "point" else None,
        title=asked.title,
    )
    runner.keep_session(step, await settled(started))
    return {}


async def _end(runner: Runner, step: Json) -> Json:
    ended = await settled(
        runner.session(step).end(
            step.get("result", ""), is_error=step.get("is_error", False), call=step.get("call_id") or None
        )
    )
    return {
        "index": ended.index,
        "point": ended.point,
        "answers_call": ended.answers_call,
        "report": as_json(ended.report),
    }


async def _children(runner: Runner, step: Json) -> Json:
    return {"sessions": all_json(await everything(runner.session(step).children()))}


async def _pin(runner: Runner, step: Json) -> Json:
    return _pinned(await settled(runner.session(step).pin(*step["indexes"])))


async def _unpin(runner: Runner, step: Json) -> Json:
    return _pinned(await settled(runner.session(step).unpin(*step["indexes"])))


async def _set_blocks(runner: Runner, step: Json) -> Json:
    asked = request(step, v1.UpdateContextBlocksRequest())
    session = runner.session(step)
    match list(asked.set), list(asked.remove):
        case [], names:
            return _context_changed(await settled(session.remove_block(*names)))
        case [given], []:
            changed = session.set_block(
                given.name,
                list(given.parts),
                place=_word(v1.BlockPlace.Name(given.place), "BLOCK_PLACE_") if given.place else "latest",
                priority=given.priority,
                max_tokens=given.max_tokens or None,
                turns=given.turns or None,
                operator=given.operator,
            )
            return _context_changed(await settled(changed))
        case blocks, names:
            return _context_changed(await settled(session.update_blocks(*blocks, remove=names)))


async def _blocks(runner: Runner, step: Json) -> Json:
    listed = runner.session(step).blocks(*step.get("names", ()), as_of=step.get("as_of"))
    return {"blocks": all_json(await everything(listed))}


async def _replace_instructions(runner: Runner, step: Json) -> Json:
    asked = request(step, v1.ReplaceInstructionsRequest())
    return _context_changed(await settled(runner.session(step).replace_instructions(*asked.messages)))


async def _recall(runner: Runner, step: Json) -> Json:
    asked = request(step, v1.RecallContentRequest(), "page")
    page = step.get("page", False)
    bounds: dict[str, Any] = {}
    match asked.WhichOneof("range"):
        case "bytes":
            bounds = {"offset": asked.bytes.offset, "length": asked.bytes.length}
        case "lines":
            bounds = {"first_line": asked.lines.first, "line_count": asked.lines.count}
        case "match":
            wanted = asked.match
            bounds = {
                "match": wanted.pattern,
                "ignore_case": wanted.ignore_case,
                "context_lines": wanted.context_lines,
            }
        case _:
            pass
    recalled = await settled(
        runner.session(step).recall(
            step["reference"] if "reference" in step else step["index"],
            part=step.get("part"),
            result_part=step.get("result_part"),
            max_bytes=step.get("max_bytes") if page else None,
            **bounds,
        )
    )
    return as_json(recalled) if page else {"text": recalled.text}


async def _search(runner: Runner, step: Json) -> Json:
    hits = runner.session(step).search(
        step.get("words"),
        pattern=step.get("pattern"),
        roles=[_word(role, "ROLE_") for role in step.get("roles", ())],
        states=[_word(state, "MESSAGE_STATE_") for state in step.get("states", ())],
        newest_first=step.get("newest_first", False),
        snippet_chars=step.get("snippet_chars", 0),
        include_children=step.get("include_children", False),
        page_size=step.get("page_size", 0),
    )
    return {"hits": all_json(await everything(hits))}


async def _messages(runner: Runner, step: Json) -> Json:
    listed = runner.session(step).messages(
        _word(step.get("listing", "transcript"), "MESSAGE_LISTING_"),
        from_index=step.get("from_index", 0),
        page_size=step.get("page_size", 0),
    )
    return {"messages": all_json(await everything(listed))}


async def _records(runner: Runner, step: Json) -> Json:
    listed = runner.session(step).records(
        kinds=[_word(kind, "RECORD_KIND_") for kind in step.get("kinds", ())],
        compaction_id=step.get("compaction_id", ""),
        newest_first=step.get("newest_first", False),
        from_sequence=step.get("from_sequence"),
        page_size=step.get("page_size", 0),
    )
    return {"records": all_json(await everything(listed))}


async def _compactions(runner: Runner, step: Json) -> Json:
    listed = runner.session(step).compactions(page_size=step.get("page_size", 0))
    return {"compactions": all_json(await everything(listed))}


async def _watch(runner: Runner, step: Json) -> Json:
    watch = runner.session(step).watch(
        from_sequence=step.get("from_sequence"), without_content=step.get("without_content", False)
    )
    items: list[Json] = []
    try:
        while len(items) < step["count"]:
            item = await (anext(watch) if isinstance(watch, compactord.AsyncWatch) else settled(next(watch)))
            if isinstance(item, v1.LoggedMessage):
                items.append(as_json(v1.WatchSessionResponse(message=item)))
            elif isinstance(item, v1.Record):
                items.append(as_json(v1.WatchSessionResponse(record=item)))
    finally:
        await settled(watch.close())
    return {"items": items}


async def _classify_error(runner: Runner, step: Json) -> Json:
    asked = request(step, v1.ClassifyErrorRequest())
    classified = runner.client.classify_error(
        asked.error_text,
        http_status=asked.http_status,
        stop_reason=_word(step.get("stop_reason"), "STOP_REASON_"),
        provider_stop_reason=asked.provider_stop_reason,
        usage=asked.usage if asked.HasField("usage") else None,
        context_window=asked.context_window,
    )
    return as_json(await settled(classified))


async def _count_tokens(runner: Runner, step: Json) -> Json:
    given = content(step) if {"messages", "json", "items", "raw"} & step.keys() else []
    counted = runner.client.count_tokens(
        *given,
        text=step.get("text"),
        session_id=step.get("session"),
        dialect=runner.dialect(step),
        estimator=_word(step.get("estimator"), "ESTIMATOR_"),
    )
    return as_json(await settled(counted))


async def _sync(runner: Runner, step: Json) -> Json:
    last = runner.last_view(step) if step.get("from_view") else None
    synced = await settled(
        runner.session(step).sync(
            [*([] if last is None else last.messages), *_listed(step)],
            system=step.get("system"),
            compact=step.get("compact", False),
            view=not step.get("leave_out_view", False),
        )
    )
    told = {} if synced.view is None else _shown(synced.view)
    if synced.view is not None:
        runner.keep_view(step, synced.view)
    return told | {
        "known": synced.known,
        "sent": synced.sent,
        "appended": synced.appended,
        "put_aside": synced.put_aside,
        "instructions_replaced": synced.instructions_replaced,
        "begins_with_view": synced.begins_with_view,
        "next_index": synced.next_index,
        "point": synced.point,
        "findings": all_json(synced.findings),
        "report": as_json(synced.report),
        "compaction": as_json(synced.compacted),
    }


async def _refresh(runner: Runner, step: Json) -> Json:
    info = await settled(runner.session(step).refresh())
    return {"session": as_json(info.session), "report": as_json(info.report)}


async def _compacted(runner: Runner, step: Json) -> Json:
    made = await settled(
        runner.client.compacted(
            _listed(step),
            dialect=runner.dialect(step),
            policy=step["policy"],
            system=step.get("system"),
            state=runner.list_state if step.get("from_state") else "",
        )
    )
    runner.list_state = made.state
    return _shown(made.view) | {
        "report": as_json(made.report),
        "compacted": made.compacted,
        "began_anew": made.began_anew,
        "covered": json.loads(made.state)["covered"] if made.state else 0,
    }


def _listed(step: Json) -> list[Any]:
    """The elements of an agent's list."""
    return content(step) if {"messages", "items"} & step.keys() else []


def _shown(view: compactord.View) -> Json:
    """The content of a view."""
    return {
        "messages": all_json(view.messages) if view.dialect is None else [],
        "messages_json": view.messages_json,
        "system_json": view.system_json,
    }


def _word(name: str | None, prefix: str) -> Any:
    """How the package names a value of an enum."""
    return None if name is None else name.removeprefix(prefix).lower()


def _compaction(step: Json) -> Json:
    taken: Json = {
        name: step[name]
        for name in ("focus", "policy", "dry_run", "replay", "will_retry", "request_id")
        if name in step
    }
    if "fold" in step:
        taken["fold"] = json_format.ParseDict(step["fold"], v1.FoldRange())
    return taken | {"reason": _word(step.get("reason", "manual"), "COMPACTION_REASON_")}


def _result(result: compactord.CompactionResult) -> Json:
    """How a compaction ended, as the table has it."""
    if result.planned is not None:
        return {"outcome": "planned", "plan": as_json(result.planned)}
    if result.skipped is not None:
        return as_json(result.skipped) | {"outcome": "skipped"}
    return {
        "outcome": "completed",
        "compaction": as_json(result.compaction),
        "prune": as_json(result.prune),
        "report": as_json(result.report),
    }


def _reverted(reverted: compactord.Reverted) -> Json:
    return {
        "record": as_json(reverted.record),
        "point": reverted.point,
        "report": as_json(reverted.report),
        "messages_put_aside": reverted.messages_put_aside,
        "first_request_put_aside": reverted.first_request_put_aside,
    }


def _pinned(pinned: compactord.Pinned) -> Json:
    return {"record": as_json(pinned.record), "point": pinned.point, "report": as_json(pinned.report)}


def _context_changed(changed: compactord.ContextChanged) -> Json:
    return {"sequence": changed.sequence, "point": changed.point, "report": as_json(changed.report)}


STEPS: dict[str, Step] = {
    "append": _append,
    "blocks": _blocks,
    "child": _child,
    "children": _children,
    "checkpoint": _checkpoint,
    "checkpoints": _checkpoints,
    "classify_error": _classify_error,
    "clear": _clear,
    "commit": _commit,
    "compact": _compact,
    "compacted": _compacted,
    "compact_with": _compact_with,
    "compaction_events": _compaction_events,
    "compactions": _compactions,
    "count_tokens": _count_tokens,
    "create_session": _create_session,
    "delete": _delete,
    "end": _end,
    "fork": _fork,
    "info": _info,
    "list_sessions": _list_sessions,
    "messages": _messages,
    "pin": _pin,
    "plan": _plan,
    "prune": _prune,
    "recall": _recall,
    "refresh": _refresh,
    "records": _records,
    "replace_instructions": _replace_instructions,
    "revert": _revert,
    "search": _search,
    "set_blocks": _set_blocks,
    "sync": _sync,
    "tool": _tool,
    "unpin": _unpin,
    "update": _update,
    "view": _view,
    "watch": _watch,
}
"""What can be done, by its name in the table."""
