package views

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What is kept never passes the limit, and is found again as long as nothing newer needed its room.
func TestKeptListsStayWithinTheirBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const limit = 100 + 3*messageBytes
		k := &KeptLists{MaxBytes: limit}
		// used are the keys of what must be there, the one used last at the end.
		var used []uint32
		size := make(map[uint32]int)
		forget := func(point uint32) {
			for i, other := range used {
				if other == point {
					used = append(used[:i:i], used[i+1:]...)
					return
				}
			}
		}
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			point := rapid.Uint32Range(0, 9).Draw(t, "point")
			key := listKey{uid: "u", point: point}
			switch rapid.SampledFrom([]string{"put", "get", "drop"}).Draw(t, "what") {
			case "put":
				n := rapid.IntRange(0, limit+20).Draw(t, "bytes")
				k.put(key, &renderedList{messages: []json.RawMessage{make([]byte, n)}})
				if n += messageBytes; n > limit {
					break
				}
				forget(point)
				used, size[point] = append(used, point), n
				for total(used, size) > limit {
					used = used[1:]
				}
			case "get":
				if k.get(key, 0) != nil {
					forget(point)
					used = append(used, point)
				}
			default:
				k.drop(key, 0)
				forget(point)
			}
			require.Equal(t, total(used, size), k.bytes)
			require.LessOrEqual(t, k.bytes, limit)
			require.Equal(t, len(used), k.order.Len())
			require.Len(t, k.byKey, len(used))
		}
	})
}

func total(used []uint32, size map[uint32]int) int {
	sum := 0
	for _, point := range used {
		sum += size[point]
	}
	return sum
}

// A list whose client does not come back is not kept for ever. Reading keeps it.
func TestKeptListsThatNobodyAsksForGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := &KeptLists{MaxBytes: 100}
		read, left := listKey{uid: "read"}, listKey{uid: "left"}
		k.put(read, &renderedList{messages: []json.RawMessage{[]byte("1")}})
		k.put(left, &renderedList{messages: []json.RawMessage{[]byte("1")}})
		<-time.After(keptFor)
		require.NotNil(t, k.get(read, 0))
		<-time.After(time.Second)
		require.NotNil(t, k.get(read, 0))
		require.Nil(t, k.get(left, 0))
		require.Equal(t, 1+messageBytes, k.bytes)
	})
}

// A page that a list does not have is not found in it: another client's list from the first message on can be shorter.
func TestKeptListsAreFoundForTheirPagesOnly(t *testing.T) {
	t.Parallel()
	k := &KeptLists{MaxBytes: 100}
	key := listKey{uid: "u"}
	k.put(key, &renderedList{messages: []json.RawMessage{[]byte("1"), []byte("2")}, rest: &restart{}})
	k.put(key, &renderedList{first: 7, messages: []json.RawMessage{[]byte("8")}, rest: &restart{}})
	require.NotNil(t, k.get(key, 2))
	require.Nil(t, k.get(key, 3))
	require.Equal(t, 7, k.get(key, 7).first)
}
