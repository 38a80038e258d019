package admission

import (
	"cmp"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// DefaultMaxWaiting is how many calls may wait for a pool. Further ones are refused.
const DefaultMaxWaiting = 256

// WholeCore is the weight of work that keeps one core busy, and the largest weight.
const WholeCore = 4

// weightBytes is how many bytes add one to a weight.
const weightBytes = 64 << 10

// WeightOf returns the weight of work on this many bytes.
func WeightOf(bytes int) int { return min(1+bytes/weightBytes, WholeCore) }

// Options configure Pools. Their zero value has the defaults.
type Options struct {
	// Cores is the number of cores that the daemon may use. Default: that of the Go runtime.
	Cores int
	// MaxWaiting is how many calls may wait for each pool. Default DefaultMaxWaiting.
	MaxWaiting int
	// Metrics registers the metrics. Nil: they are not registered.
	Metrics prometheus.Registerer
	// Now returns the time. Default: the clock's.
	Now func() time.Time
}

// size returns the size of a pool: all cores but one, which stays free for small calls.
func (o Options) size() int { return max(o.Cores-1, 1) * WholeCore }

// How long work of a pool rests at its end, as a multiple of how long it had room, where small calls came meanwhile. The
// store has one writer, and both share the cores: the small calls are to find them free more often than not.
const importsRest = 2

// coreRest leaves about one more core free, whatever the size of the pool: with one core it is busy half of the time. Views
// are encoded and sent while they rest.
func (o Options) coreRest() float64 { return float64(WholeCore) / float64(o.size()) }

// longestRest is how long work rests at most.
const longestRest = 2 * time.Second

// Pools are the pools of a daemon.
type Pools struct {
	// small counts the calls that entered no pool.
	small atomic.Int64

	// Compactions is for planning, summarizing by rules, and committing.
	Compactions *Pool
	// Searches is for searches in logs and in contents.
	Searches *Pool
	// Imports is for requests with many or large messages.
	Imports *Pool
	// Views is for large views and lists, and for inline histories.
	Views *Pool
}

// New returns the pools.
func New(o Options) (*Pools, error) {
	o.Cores = cmp.Or(o.Cores, runtime.GOMAXPROCS(0))
	o.MaxWaiting = cmp.Or(o.MaxWaiting, DefaultMaxWaiting)
	if o.Now == nil {
		o.Now = time.Now
	}
	m, err := newMetrics(o.Metrics)
	if err != nil {
		return nil, err
	}
	p := &Pools{}
	p.Compactions = newPool("compactions", o, m).resting(&p.small, o.coreRest())
	p.Imports = newPool("imports", o, m).resting(&p.small, importsRest)
	p.Views = newPool("views", o, m).resting(&p.small, o.coreRest())
	p.Searches = newPool("searches", o, m)
	return p, nil
}

// Pass notes a small call, for which work rests.
func (p *Pools) Pass() { p.small.Add(1) }
