package redactiontest

import (
	"embed"
	"io/fs"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

// heldOutTexts are sets of texts that were written without a look at the rules. In them `{h:40}` stands for 40 random
// characters of one of the alphabets in ofAlphabet, and `⟦` and `⟧` stand around secrets.
//
//go:embed held_out*.txt
var heldOutTexts embed.FS

// HeldOut is a text with the secrets in it, or with none that only looks like one.
type HeldOut struct {
	Kind    string
	Text    string
	Secrets []string
}

// Leaks says if a text still has a word of the secret that the words around it do not have.
func (h HeldOut) Leaks(secret, redacted string) bool {
	around := h.Text
	for _, s := range h.Secrets {
		around = strings.ReplaceAll(around, s, "")
	}
	for word := range strings.FieldsSeq(secret) {
		if len(word) >= 3 && strings.Contains(redacted, word) && !strings.Contains(around, word) {
			return true
		}
	}
	return false
}

// HeldOutSecrets returns texts with secrets, the random ones made from the seed.
func HeldOutSecrets(seed uint64) []HeldOut { return heldOutIn("held_out*_secrets.txt", seed) }

// HeldOutAlike returns texts without secrets.
func HeldOutAlike(seed uint64) []HeldOut { return heldOutIn("held_out*_alike.txt", seed) }

func heldOutIn(pattern string, seed uint64) []HeldOut {
	names, err := fs.Glob(heldOutTexts, pattern)
	if err != nil {
		panic(err)
	}
	var all []HeldOut
	for _, name := range names {
		file, err := heldOutTexts.ReadFile(name)
		if err != nil {
			panic(err)
		}
		all = append(all, heldOut(string(file), seed)...)
	}
	return all
}

func heldOut(file string, seed uint64) []HeldOut {
	g := &generator{rand.New(rand.NewPCG(seed, 3))}
	var all []HeldOut
	for entry := range strings.SplitSeq("\n"+file, "\n=== ") {
		if kind, text, ok := strings.Cut(entry, "\n"); ok && kind != "" {
			all = append(all, marked(kind, g.filled(strings.TrimSuffix(text, "\n"))))
		}
	}
	return all
}

var randomPart = regexp.MustCompile(`\{([ahlUuBd]):(\d+)\}`)

var ofAlphabet = map[string]string{
	"a": alnum, "h": hex, "l": lower + digits, "U": "0123456789ABCDEF", "u": base32, "B": b64, "d": digits,
}

func (g *generator) filled(text string) string {
	return randomPart.ReplaceAllStringFunc(text, func(part string) string {
		fields := randomPart.FindStringSubmatch(part)
		n, _ := strconv.Atoi(fields[2])
		return g.of(ofAlphabet[fields[1]], n)
	})
}

func marked(kind, text string) HeldOut {
	h := HeldOut{Kind: kind}
	var plain strings.Builder
	for piece := range strings.SplitSeq(text, "⟦") {
		secret, after, ok := strings.Cut(piece, "⟧")
		if ok {
			h.Secrets = append(h.Secrets, secret)
			plain.WriteString(secret + after)
		} else {
			plain.WriteString(piece)
		}
	}
	h.Text = plain.String()
	return h
}
