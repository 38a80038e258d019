package bpe

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// The tokens of each encoding in the order of their ranks, each after one byte with its length. A vocabulary in this
// form is less than half the size of its published file, and loading it decodes and copies nothing.
var (
	//go:embed vocabularies/o200k_base.tokens
	o200kTokens string
	//go:embed vocabularies/cl100k_base.tokens
	cl100kTokens string
)

// ErrVocabulary means that the vocabulary built into the program is malformed.
var ErrVocabulary = errors.New("vocabulary is malformed")

// noRank is the rank of bytes that are not a token.
const noRank = uint32(1<<32 - 1)

// Vocabulary is an encoding: its tokens by rank, and how it splits text into pieces before it merges. Any number of
// goroutines can use it at once.
type Vocabulary struct {
	table table
	// single has the ranks of single bytes, and doubles those of two bytes, with which all merging starts.
	single  [256]uint32
	doubles []uint32
	// longest is the length of the longest token in bytes.
	longest int
	// next returns the end of the first piece of a text that is not empty.
	next func(text string) int
	// mergers are mergers that are not in use.
	mergers sync.Pool
}

var (
	o200kBase  = sync.OnceValues(func() (*Vocabulary, error) { return load(o200kTokens, nextO200k) })
	cl100kBase = sync.OnceValues(func() (*Vocabulary, error) { return load(cl100kTokens, nextCl100k) })
)

// O200kBase returns the encoding of GPT-4o and later models. The first call loads it, which takes about 6 ms and 5 MB.
func O200kBase() (*Vocabulary, error) { return o200kBase() }

// Cl100kBase returns the encoding of GPT-4 and GPT-3.5. The first call loads it, which takes about 3 ms and 3 MB.
func Cl100kBase() (*Vocabulary, error) { return cl100kBase() }

// load reads the tokens of a vocabulary.
func load(tokens string, next func(string) int) (*Vocabulary, error) {
	v := &Vocabulary{table: newTable(tokens, countTokens(tokens)), doubles: make([]uint32, 1<<16), next: next}
	for i := range v.doubles {
		v.doubles[i] = noRank
	}
	for rest := tokens; rest != ""; {
		length := int(rest[0])
		if length == 0 || length >= len(rest) {
			return nil, fmt.Errorf("%w: token %d is empty or cut short", ErrVocabulary, len(v.table.ends))
		}
		rank := len(v.table.ends)
		if !v.table.add(rest[1:1+length], len(tokens)-len(rest)+1+length) {
			return nil, fmt.Errorf("%w: token %d occurs twice", ErrVocabulary, rank)
		}
		if length == 2 {
			v.doubles[int(rest[1])<<8|int(rest[2])] = uint32(rank)
		}
		v.longest = max(v.longest, length)
		rest = rest[1+length:]
	}
	for b := range 256 {
		rank := v.rank(string([]byte{byte(b)}))
		if rank == noRank {
			return nil, fmt.Errorf("%w: byte %d is not a token", ErrVocabulary, b)
		}
		v.single[b] = rank
	}
	return v, nil
}

// countTokens returns the number of tokens of a vocabulary, up to where it is malformed.
func countTokens(tokens string) int {
	n := 0
	for i := 0; i < len(tokens); i += 1 + int(tokens[i]) {
		n++
	}
	return n
}

// rank returns the rank of a token; noRank for bytes that are not a token.
func (v *Vocabulary) rank(token string) uint32 {
	if len(token) > v.longest {
		return noRank
	}
	return v.table.rank(token)
}

// double returns the rank of a token of two bytes; noRank where they are not a token.
func (v *Vocabulary) double(first, second byte) uint32 { return v.doubles[int(first)<<8|int(second)] }

// merger returns a merger that is not in use.
func (v *Vocabulary) merger() *merger {
	if m, ok := v.mergers.Get().(*merger); ok {
		return m
	}
	return &merger{vocabulary: v}
}

// Count returns the number of tokens of a text.
func (v *Vocabulary) Count(text string) int {
	count, _ := v.CountContext(context.Background(), text)
	return count
}

// bytesPerCheck is the number of bytes counted between two checks of the context, except in a longer piece.
const bytesPerCheck = 4 << 10

// CountContext is Count, but ends soon after the context does, with its cause.
func (v *Vocabulary) CountContext(ctx context.Context, text string) (int, error) {
	count, counted := 0, 0
	m := v.merger()
	defer v.mergers.Put(m)
	for len(text) > 0 {
		end := v.next(text)
		// Only a piece longer than maxPiece takes more than one step.
		for piece := text[:end]; piece != ""; {
			if counted >= bytesPerCheck {
				if counted = 0; ctx.Err() != nil {
					return 0, context.Cause(ctx)
				}
				// Small calls that wait for a core need not wait for a whole time slice.
				runtime.Gosched()
			}
			part := piece[:min(len(piece), maxPiece)]
			if v.rank(part) != noRank {
				count++
			} else {
				count += m.count(part)
			}
			piece, counted = piece[len(part):], counted+len(part)
		}
		text = text[end:]
	}
	return count, nil
}
