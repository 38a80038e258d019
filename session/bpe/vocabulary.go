package bpe

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// ErrVocabulary says that the vocabulary built into the program cannot be read.
var ErrVocabulary = errors.New("vocabulary is malformed")

// noRank is the rank of what is no token.
const noRank = 1<<32 - 1

// Vocabulary is an encoding: its tokens by rank, and how it divides text before it merges. It can be used by any number
// of goroutines at once.
type Vocabulary struct {
	ranks map[string]uint32
	// longest is the length of the longest token in bytes.
	longest int
	// next returns where the first piece of a text ends. The text is not empty.
	next func(text string) int
}

var (
	o200kBase  = sync.OnceValues(func() (*Vocabulary, error) { return load("o200k_base.tiktoken", nextO200k) })
	cl100kBase = sync.OnceValues(func() (*Vocabulary, error) { return load("cl100k_base.tiktoken", nextCl100k) })
)

// O200kBase returns the encoding of GPT-4o and later models. The first call loads it, which takes some 50 ms and 20 MB.
func O200kBase() (*Vocabulary, error) { return o200kBase() }

// Cl100kBase returns the encoding of GPT-4 and GPT-3.5. The first call loads it, which takes some 20 ms and 10 MB.
func Cl100kBase() (*Vocabulary, error) { return cl100kBase() }

// load reads a vocabulary that is embedded in the program: a line for each token, in base64, and its rank.
func load(name string, next func(string) int) (*Vocabulary, error) {
	content, err := assets.Assets.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrVocabulary, err)
	}
	return parse(content, next)
}

func parse(content []byte, next func(string) int) (*Vocabulary, error) {
	v := &Vocabulary{ranks: make(map[string]uint32, bytes.Count(content, []byte("\n"))), next: next}
	for number, line := range bytes.Split(content, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		encoded, rank, _ := bytes.Cut(line, []byte(" "))
		token := make([]byte, base64.StdEncoding.DecodedLen(len(encoded)))
		n, err := base64.StdEncoding.Decode(token, encoded)
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrVocabulary, number+1, err)
		}
		r, err := strconv.ParseUint(string(rank), 10, 31)
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrVocabulary, number+1, err)
		}
		v.ranks[string(token[:n])] = uint32(r)
		v.longest = max(v.longest, n)
	}
	// All merging starts from single bytes.
	for b := range 256 {
		if _, known := v.ranks[string([]byte{byte(b)})]; !known {
			return nil, fmt.Errorf("%w: byte %d is no token", ErrVocabulary, b)
		}
	}
	return v, nil
}

// rank returns the rank of a token; noRank where it is none.
func (v *Vocabulary) rank(token string) uint32 {
	if len(token) > v.longest {
		return noRank
	}
	if r, known := v.ranks[token]; known {
		return r
	}
	return noRank
}

// Count returns the number of tokens of a text.
func (v *Vocabulary) Count(text string) int {
	count, _ := v.CountContext(context.Background(), text)
	return count
}

// glance is how many bytes are counted between two looks at the context, unless a piece is longer.
const glance = 4 << 10

// CountContext is Count, but ends soon after its context does, with the cause.
func (v *Vocabulary) CountContext(ctx context.Context, text string) (int, error) {
	count, counted := 0, 0
	var m merger
	for len(text) > 0 {
		end := v.next(text)
		// Only the longest pieces are counted in more than one step.
		for piece := text[:end]; piece != ""; {
			if counted >= glance {
				if counted = 0; ctx.Err() != nil {
					return 0, context.Cause(ctx)
				}
			}
			part := piece[:min(len(piece), maxPiece)]
			if v.rank(part) != noRank {
				count++
			} else {
				count += m.count(v, part)
			}
			piece, counted = piece[len(part):], counted+len(part)
		}
		text = text[end:]
	}
	return count, nil
}
