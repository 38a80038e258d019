package load

import (
	"testing"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// BenchmarkAppendDue is an append to a session whose compaction is due, beside one to the same session where it is not.
func BenchmarkAppendDue(b *testing.B) {
	d := start(b)
	messages := conversation(viewBytes)
	for id, trigger := range map[string]uint32{"calm": 90_000_000, "due": 100_000} {
		d.create(id, &compactordv1.Policy{
			ContextWindow: proto.Uint32(100_000_000), Trigger: &compactordv1.Trigger{TriggerTokens: proto.Uint32(trigger)},
		}, messages...)
	}
	b.Run("kB=800/base=calm", func(b *testing.B) {
		ours := func() { d.append("due", user("more")) }
		beside(b, 1.5, func() { d.append("calm", user("more")) }, ours)
		d.allocations(b, ours)
	})
}
