package redactiontest

import (
	_ "embed"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The texts of the held-out sets were written without a look at the rules. In them `{h:40}` stands for 40 random
// characters of one of the alphabets in ofAlphabet, and `⟦` and `⟧` stand around secrets.
var (
	//go:embed held_out_secrets.txt
	heldOutSecrets string
	//go:embed held_out_alike.txt
	heldOutAlike string
	//go:embed held_out2_secrets.txt
	heldOutSecrets2 string
	//go:embed held_out2_alike.txt
	heldOutAlike2 string
	//go:embed held_out3_secrets.txt
	heldOutSecrets3 string
	//go:embed held_out3_alike.txt
	heldOutAlike3 string
	//go:embed held_out4_secrets.txt
	heldOutSecrets4 string
	//go:embed held_out4_alike.txt
	heldOutAlike4 string
	//go:embed held_out5_secrets.txt
	heldOutSecrets5 string
	//go:embed held_out6_secrets.txt
	heldOutSecrets6 string
	//go:embed held_out7_secrets.txt
	heldOutSecrets7 string
	//go:embed held_out8_secrets.txt
	heldOutSecrets8 string
	//go:embed held_out9_secrets.txt
	heldOutSecrets9 string
	//go:embed held_out7_alike.txt
	heldOutAlike7 string
	//go:embed held_out9_alike.txt
	heldOutAlike9 string
)

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
func HeldOutSecrets(seed uint64) []HeldOut {
	var all []HeldOut
	for _, file := range []string{heldOutSecrets, heldOutSecrets2, heldOutSecrets3, heldOutSecrets4, heldOutSecrets5, heldOutSecrets6, heldOutSecrets7, heldOutSecrets8, heldOutSecrets9} {
		all = append(all, heldOut(file, seed)...)
	}
	return all
}

// HeldOutAlike returns texts without secrets.
func HeldOutAlike(seed uint64) []HeldOut {
	return slices.Concat(heldOut(heldOutAlike, seed), heldOut(heldOutAlike2, seed), heldOut(heldOutAlike3, seed), heldOut(heldOutAlike4, seed),
		heldOut(heldOutAlike7, seed), heldOut(heldOutAlike9, seed))
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
