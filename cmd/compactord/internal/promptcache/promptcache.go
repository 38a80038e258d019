// Package promptcache says what a sequence of requests to a model costs with the provider's prompt cache.
//
// A provider stores the beginning of a prompt for a while and charges less for what it finds there. Two models of such
// caches cover what providers do: Prefix caches automatically, Breakpoints where a client marks the end of a part.
package promptcache

import (
	"crypto/sha256"
	"time"
	"unicode/utf8"
)

// Model is how a provider caches.
type Model string

// The models.
const (
	// Prefix: what a request has in common, from its first byte, with a recent one is read, in steps of 128 tokens. The
	// rest is written.
	Prefix Model = "prefix"
	// Breakpoints: entries are written at the end of the instructions and at the last block. A request reads the longest
	// entry that ends a few blocks before one of its own breakpoints, or there. The rest is written.
	Breakpoints Model = "breakpoints"
)

// Prices are the prices and limits of a provider.
type Prices struct {
	// Input is the price of a million tokens that the cache has no part in, in US dollars. Write and Read are what tokens
	// cost that the cache stores or has, as multiples of Input.
	Input, Write, Read float64
	// TTL is how long an entry lives after its last use.
	TTL time.Duration
	// MinTokens is the size below which nothing is cached.
	MinTokens int
	// Lookback is the number of blocks before a breakpoint in which an entry is looked for.
	Lookback int
}

// DefaultPrices are usual prices.
func DefaultPrices() Prices {
	return Prices{Input: 3, Write: 1.25, Read: 0.1, TTL: 5 * time.Minute, MinTokens: 1024, Lookback: 20}
}

// Block is a part of a request that is cached as a whole.
type Block struct {
	Text   string
	Tokens int
}

// TextBlock returns a block of a text, with four characters a token.
func TextBlock(text string) Block { return Block{text, (utf8.RuneCountInString(text) + 3) / 4} }

// Request is one request.
type Request struct {
	Blocks []Block
	// Stable is the number of blocks at the start that are instructions.
	Stable int
	// At is when it was sent; zero if that is unknown. Entries do not expire between requests without a time.
	At time.Time
}

// tokens returns the size of the request.
func (r *Request) tokens() int { return tokensOf(r.Blocks) }

func tokensOf(blocks []Block) int {
	sum := 0
	for _, b := range blocks {
		sum += b.Tokens
	}
	return sum
}

// Charge is what one request costs. Its tokens are Read + Written + Plain.
type Charge struct {
	Read, Written, Plain int
	Dollars              float64
}

// Simulation is the cache of one model of a provider.
type Simulation struct {
	model  Model
	prices Prices
	// recent are the last requests, for Prefix.
	recent []Request
	// entries are the times of last use of what was written, for Breakpoints.
	entries map[[sha256.Size]byte]time.Time
}

// NewSimulation returns an empty cache.
func NewSimulation(model Model, prices Prices) *Simulation {
	return &Simulation{model: model, prices: prices, entries: make(map[[sha256.Size]byte]time.Time)}
}

// Send sends a request through the cache.
func (s *Simulation) Send(r Request) Charge {
	size := r.tokens()
	var c Charge
	if s.model == Breakpoints {
		c.Read = s.readBreakpoints(&r)
	} else {
		c.Read = s.readPrefix(&r, size)
	}
	if size >= s.prices.MinTokens {
		c.Written = size - c.Read
	}
	c.Plain = size - c.Read - c.Written
	c.Dollars = s.prices.Of(c)
	return c
}

// Of returns what the tokens of a charge cost.
func (p Prices) Of(c Charge) float64 {
	return (float64(c.Read)*p.Read + float64(c.Written)*p.Write + float64(c.Plain)) * p.Input / 1e6
}

// alive says whether an entry that was last used at a time is still there at another.
func (s *Simulation) alive(then, now time.Time) bool {
	return then.IsZero() || now.IsZero() || now.Sub(then) <= s.prices.TTL
}

const (
	// step is the number of tokens in which a prefix is read.
	step = 128
	// memory is the number of earlier requests that a prefix is looked for in.
	memory = 8
)

func (s *Simulation) readPrefix(r *Request, size int) int {
	alive := s.recent[:0]
	for _, q := range s.recent {
		if s.alive(q.At, r.At) {
			alive = append(alive, q)
		}
	}
	s.recent = alive[max(0, len(alive)-memory):]
	best := 0
	for i := range s.recent {
		best = max(best, commonTokens(r.Blocks, s.recent[i].Blocks))
	}
	s.recent = append(s.recent, *r)
	best = min(best, size) / step * step
	if best < s.prices.MinTokens {
		return 0
	}
	return best
}

// commonTokens returns the tokens with which two requests begin alike.
func commonTokens(a, b []Block) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return tokensOf(a[:n]) + commonChars(a[n:], b[n:])/4
}

// commonChars returns the characters with which the texts of two lists of blocks begin alike. Where blocks end does not
// matter.
func commonChars(a, b []Block) int {
	chars := 0
	var left, right string
	for {
		for left == "" && len(a) > 0 {
			left, a = a[0].Text, a[1:]
		}
		for right == "" && len(b) > 0 {
			right, b = b[0].Text, b[1:]
		}
		if left == "" || right == "" {
			return chars
		}
		l, size := utf8.DecodeRuneInString(left)
		r, other := utf8.DecodeRuneInString(right)
		if l != r || left[:size] != right[:other] {
			return chars
		}
		left, right = left[size:], right[other:]
		chars++
	}
}

func (s *Simulation) readBreakpoints(r *Request) int {
	digest := sha256.New()
	ends, sizes := make([][sha256.Size]byte, len(r.Blocks)), make([]int, len(r.Blocks))
	size := 0
	for i, b := range r.Blocks {
		digest.Write([]byte(b.Text))
		digest.Sum(ends[i][:0])
		size += b.Tokens
		sizes[i] = size
	}
	marks := breakpoints(r)
	best := -1
	for _, mark := range marks {
		for k := mark; k > max(-1, mark-s.prices.Lookback); k-- {
			if then, is := s.entries[ends[k]]; is && s.alive(then, r.At) {
				best = max(best, k)
				break
			}
		}
	}
	read := 0
	if best >= 0 {
		s.entries[ends[best]] = r.At
		read = sizes[best]
	}
	for _, mark := range marks {
		if sizes[mark] >= s.prices.MinTokens {
			s.entries[ends[mark]] = r.At
		}
	}
	return read
}

// breakpoints returns the blocks after which a client marks a breakpoint.
func breakpoints(r *Request) []int {
	var marks []int
	for _, mark := range []int{r.Stable - 1, len(r.Blocks) - 1} {
		if mark >= 0 && (len(marks) == 0 || marks[0] != mark) {
			marks = append(marks, mark)
		}
	}
	return marks
}

// Totals are the sums over a sequence of requests.
type Totals struct {
	Requests int     `json:"requests"`
	Sent     int     `json:"sent_tokens"`
	Read     int     `json:"read_tokens"`
	Written  int     `json:"written_tokens"`
	Plain    int     `json:"plain_tokens"`
	Peak     int     `json:"peak_tokens"`
	Dollars  float64 `json:"dollars"`
	// Uncached is what the same requests would cost without a cache.
	Uncached float64 `json:"dollars_without_cache"`
}

// Add adds a charge.
func (t *Totals) Add(c Charge, p Prices) {
	size := c.Read + c.Written + c.Plain
	t.Requests++
	t.Sent += size
	t.Read += c.Read
	t.Written += c.Written
	t.Plain += c.Plain
	t.Peak = max(t.Peak, size)
	t.Dollars += c.Dollars
	t.Uncached += float64(size) * p.Input / 1e6
}
