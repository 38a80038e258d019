package sessiontest

import (
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/session"
)

// Replay computes the heads at all points again, from the log alone and in its order.
func Replay(log *Log) []*storagev1.Head {
	_, heads := reopen(log)
	return heads
}

// Reopen returns a Writer that continues a log and computes everything else again.
func Reopen(log *Log) *Writer {
	w, _ := reopen(log)
	return w
}

func reopen(log *Log) (*Writer, []*storagev1.Head) {
	w := emptyWriter(log.Estimator)
	heads := make([]*storagev1.Head, 0, len(log.Items))
	for _, item := range log.Items {
		switch {
		case item.Message != nil:
			item.Message = proto.CloneOf(item.Message)
			w.append(item)
		case item.Record.GetRevert() != nil:
			w.replay(item, heads[item.Record.GetRevert().GetPoint()])
		default:
			w.replay(item, nil)
		}
		heads = append(heads, w.Head)
	}
	return w, heads
}

// replay adds a record as it is, without computing again what it changes.
func (w *Writer) replay(item Item, at *storagev1.Head) {
	record := proto.CloneOf(item.Record)
	h, err := session.Apply(w.Head, w.Policy, record, at)
	if err != nil {
		panic(err)
	}
	if pc := record.GetPolicyChange(); pc != nil {
		w.Policy = pc.GetResolved()
	}
	w.records = append(w.records, storedRecord{record, h})
	w.Head = w.load(h).HeadAfter(record)
	w.records[len(w.records)-1].head = w.Head
	w.Log.Items = append(w.Log.Items, Item{Record: record})
}
