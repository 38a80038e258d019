package transcript

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func compactionOf(kept uint32) entry {
	e, _ := compaction{tool: "t", summary: "s", firstKept: kept}.entry(&noteCounter{})
	return e
}

func TestRecordsWaitForTheMessagesThatTheyKeep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// steps are the kinds of entries in order: m a message, p a checkpoint, a digit a compaction that kept from that
		// index on.
		steps string
		after []uint32
		kept  []uint32
		notes int
	}{
		"a checkpoint":             {"mpm", []uint32{1}, nil, 0},
		"kept before":              {"mm1m", []uint32{2}, []uint32{1}, 0},
		"kept nothing":             {"mm2mm", []uint32{3}, []uint32{2}, 0},
		"kept later":               {"m3mmmm", []uint32{4}, []uint32{3}, 0},
		"a checkpoint that waits":  {"m1pmp", []uint32{2, 2, 2}, []uint32{1}, 0},
		"two":                      {"m1m0", []uint32{2, 2}, []uint32{1, 0}, 0},
		"nothing follows":          {"mm2", []uint32{2}, []uint32{1}, 1},
		"nothing follows, and all": {"mm2p0", []uint32{2, 2, 2}, []uint32{1, 0}, 1},
		"no messages":              {"0p", nil, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, notes := &records{}, &noteCounter{}
			for _, step := range c.steps {
				switch step {
				case 'm':
					r.count()
				case 'p':
					r.add(checkpoint("p").record)
				default:
					r.add(compactionOf(uint32(step - '0')).record)
				}
			}
			r.end(notes)
			var after, kept []uint32
			for _, record := range r.ready {
				after = append(after, record.GetAfterMessages())
				if record.GetCompaction() != nil {
					kept = append(kept, record.GetCompaction().GetFirstKeptIndex())
				}
			}
			require.Equal(t, c.after, after)
			require.Equal(t, c.kept, kept)
			require.Len(t, notes.all(), c.notes)
		})
	}
}

func TestSummariesOfAnySizeBecomeRecords(t *testing.T) {
	t.Parallel()
	notes := &noteCounter{}
	_, ok := compaction{tool: "t", summary: " \n"}.entry(notes)
	require.False(t, ok)
	e, ok := compaction{tool: "t", summary: string(make([]byte, maxSummary+1))}.entry(notes)
	require.True(t, ok)
	require.Len(t, e.record.GetCompaction().GetSummary(), maxSummary)
	require.Equal(t, []Note{{1, "1 compaction without a summary left out"}, {1, "1 summary cut to 4 MiB"}}, notes.all())
}

func TestCloseOff(t *testing.T) {
	t.Parallel()
	for cut, want := range map[string]string{
		`{"a":1,"b":[{"c":"d","e`: `{"a":1,"b":[{"c":"d"}]}`,
		`{"a":"b\"c`:              `{}`,
		`{"a":tru`:                `{}`,
		`{"a":true,`:              `{"a":true}`,
		`{"a"`:                    `{}`,
		`{"a":{}} behind`:         `{"a":{}}`,
		`[1,2`:                    `[1]`,
		`["]","}"`:                `["]","}"]`,
		``:                        ``,
		`}`:                       `}`,
	} {
		require.Equal(t, want, string(closeOff([]byte(cut))), cut)
	}
}
