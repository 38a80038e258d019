package secrets

import (
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

// slowTexts repeat what made searches slow before: each names what took the time.
var slowTexts = []struct{ name, unit string }{
	{"program", program},
	{"names", "authorization"},
	{"told", "hasła3-"},
	{"names and values", " =otp_secretauthpassword"},
	{"codes everywhere", "0f3a9cersatzcodes"},
	{"values of keys", "co_api_key\t0f3a9c:"},
	{"tokens", "\tZx9!kQsm_pat"},
	{"fields", "/mdp,>:5432:"},
	{"commands", "openssl passwd :"},
	{"phrases", ">密_pat:*:"},
	{"words", "'@'pass:a"},
	{"expressions", "\"unkey_mapbox="},
	{"printed quotes", "use pwd“&chpasswd:sk-or-v1-bearerAKIA auth loginuse pwd“"},
	{"parts of keys", "ibaakc_"},
	{"many rules", "skA1b2c3d4e5f6g7h8%3Dauthtoken gocardless="},
}

// BenchmarkSlowTexts says how long a MiB of texts takes that are made to take long, and how many times as long as one
// look for the keywords of all rules, which every search needs.
func BenchmarkSlowTexts(b *testing.B) {
	for _, slow := range slowTexts {
		b.Run(strings.ReplaceAll(slow.name, " ", "-"), func(b *testing.B) {
			text := filled(slow.unit)
			set := loaded()
			set.find(b.Context(), text)
			search, plain := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for b.Loop() {
				// The least of all rounds is the time without what else the machine does.
				plain = min(plain, timed(func() { set.words.each(text, func(int) bool { return true }) }))
				search = min(search, timed(func() { set.find(b.Context(), text) }))
			}
			b.ReportMetric(search.Seconds()*1000*(1<<20)/workBytes, "ms/MiB")
			b.ReportMetric(float64(search)/float64(plain), "x-plain")
		})
	}
}

// BenchmarkAttacks says how many times as long as a program the slowest text takes that is made to take long, and logs it.
// The slowest that a search found take five times as long.
func BenchmarkAttacks(b *testing.B) {
	set, texts := loaded(), attacks(testing.Short())
	least := func(text string) time.Duration {
		took := time.Duration(math.MaxInt64)
		for range 3 {
			took = min(took, timed(func() { set.find(b.Context(), text) }))
		}
		return took
	}
	for b.Loop() {
		ordinary, slowest, unit := least(filled(program)), time.Duration(0), ""
		for _, text := range texts {
			if took := least(text); took > slowest {
				slowest, unit = took, text[:60]
			}
		}
		b.Logf("%q takes %v", unit, slowest)
		b.ReportMetric(float64(slowest)/float64(ordinary), "x-program")
	}
}

// timed returns how long the processor took, where the system says that of a thread: what else the machine does counts less then.
func timed(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := spent()
	do()
	return spent() - start
}
