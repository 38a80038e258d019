package transcript

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// recognizeTauBench takes an array of runs, each with its task and trajectory.
func recognizeTauBench(b beginning) verdict {
	if b.array && b.Has("task_id") && (b.Has("traj") || b.Has("reward")) {
		return yes
	}
	return no
}

// openTauBench reads the messages of one run. The file holds as many sessions as runs.
func openTauBench(in *lines, _ beginning) (source, error) {
	runs := newElements(in, "", nil)
	line, count := 0, 0
	run, err := in.options.choose(func() (json.RawMessage, error) {
		raw, err := runs.next()
		if count++; count == max(in.options.session, 1) {
			line = runs.doc.at
		}
		return raw, err
	})
	if err != nil {
		return nil, err
	}
	o, err := rawjson.ParseObject(run)
	if err != nil {
		return nil, onLine(line, err)
	}
	messages, err := newParsed(o, "traj", line)
	if err != nil {
		return nil, err
	}
	in.remarks.addMany(bodyField, len(o.Others("traj")))
	names := callNames{}
	return &elementSource{remarks: in.remarks, feed: messages, read: func(raw json.RawMessage) ([]entry, error) {
		return one(tauBenchMessage(raw, names, in.remarks))
	}}, nil
}

func tauBenchMessage(raw json.RawMessage, names callNames, notes *remarks) (*compactordv1.Message, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	m, err := litellmMessage(o, notes)
	if err == nil {
		names.see(m)
	}
	return m, err
}
