# Answers a question of the agreement tests with the measuring tools' own functions. The question is JSON on stdin.
import json
import sys

sys.path.insert(0, sys.argv[1])
import frr
import neutral

question = json.load(sys.stdin)
answer = {}
if "texts" in question:
    answer["entities"] = [sorted([e.kind, e.value] for e in frr.entities(t)) for t in question["texts"]]
if "path" in question:
    t = neutral.load(question["path"])
    index = frr.Index(t.messages)
    cuts = frr.cut_points(t.messages)
    needs = {c: frr.needs(t.messages, *c, 60, index) for c in cuts}
    answer["messages"] = len(t.messages)
    answer["cuts"] = cuts
    answer["needs"] = [sorted([e.kind, e.value] for e in needs[c]) for c in cuts]
    answer["scores"], answer["texts"] = [], []
    for v in question["views"]:
        s = frr.score(v["text"], needs[v["cut"], v["end"]], None, index, v["cut"], references=question["references"])
        s["reachable"] = round((s["frr_reachable"] or 0) * s["need"])
        answer["scores"].append({k: s[k] for k in (
            "need", "hits", "bare", "ctx_hits", "reachable", "view_entities", "absent", "view_tokens")})
        case = frr.Case(t.name, index, v["cut"], v["end"])
        answer["texts"].append(frr.BASELINES[v["baseline"]][0](case, v["budget"]) if v["baseline"] else "")
json.dump(answer, sys.stdout)
