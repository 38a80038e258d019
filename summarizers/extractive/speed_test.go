package extractive_test

import (
	"fmt"
	"testing"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/internal/planted"
)

// BenchmarkSummarize measures the speed in generated conversations, and in recorded ones: each of them apart, and joined
// into one conversation up to a size. A speed that falls with the size says that something is not linear.
func BenchmarkSummarize(b *testing.B) {
	amounts := oneRound
	amounts.Turns, amounts.OutputBytes = 200, 40000
	for name, lang := range languages {
		b.Run(name, func(b *testing.B) {
			benchmark(b, [][]*compactordv1.LoggedMessage{planted.Rounds(1, lang, 1, amounts)[0].Messages})
		})
	}
	b.Run("apart", func(b *testing.B) { benchmark(b, recordings(b)) })
	for _, megabytes := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprintf("joined-%dMB", megabytes), func(b *testing.B) {
			benchmark(b, [][]*compactordv1.LoggedMessage{joinedUpTo(recordings(b), megabytes<<20)})
		})
	}
}

// recordings returns all recorded conversations.
func recordings(b *testing.B) (logs [][]*compactordv1.LoggedMessage) {
	b.Helper()
	for _, path := range corpusFiles(b) {
		log, _ := loadConversation(b, path)
		logs = append(logs, log)
	}
	return logs
}

// joinedUpTo joins conversations into one of about a size: of each of them the same share. Where all of them are too small,
// they come again.
func joinedUpTo(logs [][]*compactordv1.LoggedMessage, size int) (all []*compactordv1.LoggedMessage) {
	whole := 0
	for _, log := range logs {
		whole += sizeOfAll(log)
	}
	for rest := size; rest > 0; rest -= whole {
		share := min(float64(rest)/float64(whole), 1)
		for _, log := range logs {
			left := share * float64(sizeOfAll(log))
			for _, m := range log {
				if left -= float64(sizeOf(m)); left < 0 {
					break
				}
				all = append(all, &compactordv1.LoggedMessage{Index: uint32(len(all)), Message: m.GetMessage()})
			}
		}
	}
	return all
}

func sizeOfAll(log []*compactordv1.LoggedMessage) (size int) {
	for _, m := range log {
		size += sizeOf(m)
	}
	return size
}

func benchmark(b *testing.B, logs [][]*compactordv1.LoggedMessage) {
	b.Helper()
	size := 0
	for _, log := range logs {
		size += sizeOfAll(log)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, log := range logs {
			summarize(b, &summarizers.Request{Messages: log, MaxTokens: 2000})
		}
	}
}
