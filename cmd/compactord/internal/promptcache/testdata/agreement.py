# Prints what a recorded session costs by the measuring tools' own simulation, with the texts of its messages.
import json
import sys

sys.path.insert(0, sys.argv[1])
import cache
import neutral

messages = neutral.load(sys.argv[2]).messages
answer = {
    "roles": [m.get("role") for m in messages],
    "stable": neutral.head_length(messages),
    "shown": [cache._json(m) for m in neutral.to_openai_chat(messages)],
    "hidden": [cache._json({**m, "content": "[result hidden]"}) for m in neutral.to_openai_chat(messages)],
    "totals": {},
}
for model in "prefix", "breakpoints":
    for name, after in (("shown", None), ("masked", 5)):
        timed = [r._replace(time=17.0 * i * (i % 7)) for i, r in enumerate(cache.replay(messages, after))]
        answer["totals"][f"{model} {name}"] = cache.simulate(timed, model)
json.dump(answer, sys.stdout)
