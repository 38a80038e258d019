package keyring_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage/keyring"
)

// line returns the line of a key whose bytes count up from first.
func line(id string, first byte) string {
	secret := make([]byte, 32)
	for i := range secret {
		secret[i] = first + byte(i)
	}
	return id + ":" + base64.StdEncoding.EncodeToString(secret)
}

func parse(t testing.TB, lines ...string) *keyring.Ring {
	t.Helper()
	r, err := keyring.Parse([]byte(strings.Join(lines, "\n")))
	require.NoError(t, err)
	return r
}

func TestTheFirstKeySealsAndAllOpen(t *testing.T) {
	t.Parallel()
	place := []byte("place")
	before := parse(t, line("old", 1)).Seal(nil, place, []byte("value"))
	r := parse(t, "# a comment:", line("new", 2), "", line("old", 1))
	require.Equal(t, []string{"new", "old"}, r.IDs())
	require.Equal(t, "new", r.Sealing())

	after := r.Seal([]byte("dst"), place, []byte("value"))
	after, found := bytes.CutPrefix(after, []byte("dst"))
	require.True(t, found)
	for id, sealed := range map[string][]byte{"old": before, "new": after} {
		of, err := keyring.KeyOf(sealed)
		require.NoError(t, err)
		require.Equal(t, id, of)
		value, err := r.Open(place, sealed)
		require.NoError(t, err)
		require.Equal(t, "value", string(value))
		require.NotContains(t, string(sealed), "value")
		require.LessOrEqual(t, len(sealed), len("value")+keyring.Overhead)
	}
	require.NotEqual(t, after, r.Seal(nil, place, []byte("value")), "a nonce is used twice")

	_, err := parse(t, line("new", 2)).Open(place, before)
	var unknown *keyring.UnknownKeyError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "old", unknown.ID)
}

func TestWhatIsNotWhatWasSealedDoesNotOpen(t *testing.T) {
	t.Parallel()
	r := parse(t, line("k", 1))
	place := []byte("place")
	sealed := r.Seal(nil, place, []byte("value"))
	_, err := r.Open([]byte("other place"), sealed)
	require.ErrorIs(t, err, keyring.ErrAltered)
	_, err = parse(t, line("k", 2)).Open(place, sealed)
	require.ErrorIs(t, err, keyring.ErrAltered)
	for i := range sealed {
		_, err := r.Open(place, sealed[:i])
		require.ErrorIs(t, err, keyring.ErrAltered, "cut to %d bytes", i)
		flipped := bytes.Clone(sealed)
		flipped[i] ^= 1
		_, err = r.Open(place, flipped)
		require.Error(t, err, "byte %d flipped", i)
	}
	_, err = r.Open(place, append(sealed, 0))
	require.ErrorIs(t, err, keyring.ErrAltered)
}

func TestProofsShowAnotherKeyWithTheSameID(t *testing.T) {
	t.Parallel()
	proof := parse(t, line("k", 1)).Proof("k")
	require.NoError(t, parse(t, line("new", 3), line("k", 1)).CheckProof(proof))
	require.ErrorIs(t, parse(t, line("k", 2)).CheckProof(proof), keyring.ErrAltered)
	require.Nil(t, parse(t, line("k", 1)).Proof("other"))
	_, err := parse(t, line("k", 1)).Open([]byte("place"), proof)
	require.ErrorIs(t, err, keyring.ErrAltered, "a proof is no value")
}

func TestKeysThatAreRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("i", 33)
	for text, want := range map[string]string{
		"":                 "there is no key in it",
		"# only a comment": "there is no key in it",
		"\n" + strings.TrimPrefix(line("", 1), ":"): "line 2: a key is ID:KEY",
		line(long, 1):                        "line 1: a key is ID:KEY",
		line("a b", 1):                       "line 1: a key is ID:KEY",
		line("", 1):                          "line 1: a key is ID:KEY",
		"a:AAAA":                             `line 1: the key "a" is not 32 bytes in base64`,
		"a:" + strings.Repeat("!", 44):       `line 1: the key "a" is not 32 bytes in base64`,
		line("a", 1) + "\n" + line("a", 2):   `line 2: there are two keys with the id "a"`,
		line("a", 1) + " " + line("b", 1):    `line 1: the key "b" has another id, too`,
		"a:" + strings.Repeat("A", 43) + "=": `line 1: the key "a" is one byte again and again`,
	} {
		_, err := keyring.Parse([]byte(text))
		require.ErrorContains(t, err, want, text)
		_, secret, _ := strings.Cut(line("", 1), ":")
		require.NotContains(t, err.Error(), secret)
	}
	var many strings.Builder
	for i := range 101 {
		fmt.Fprintln(&many, line(fmt.Sprint("k", i), byte(i)))
	}
	_, err := keyring.Parse([]byte(many.String()))
	require.ErrorContains(t, err, "line 101: more than 100 keys")
}

func TestRingsHideTheirKeys(t *testing.T) {
	t.Parallel()
	text := line("k", 'A')
	r := parse(t, text)
	encoded, err := json.Marshal(r)
	require.NoError(t, err)
	_, secret, _ := strings.Cut(text, ":")
	for _, shown := range []string{
		r.String(), fmt.Sprintf("%v %+v %#v %s %x", r, r, r, r, r), fmt.Sprintf("%+v", struct{ R *keyring.Ring }{r}), string(encoded),
	} {
		require.NotContains(t, shown, secret)
		require.NotContains(t, shown, "ABCDEF")
		require.NotContains(t, shown, "65 66 67")
	}
	require.Equal(t, `keys ["k"]`, r.String())
}

// FuzzOpen opens arbitrary bytes: none may end in a panic, and nothing else opens than what was sealed.
func FuzzOpen(f *testing.F) {
	r := parse(f, line("a", 1), line("b", 2))
	place := []byte("place")
	sealed := r.Seal(nil, place, []byte("value"))
	f.Add(sealed)
	f.Add(sealed[:len(sealed)-1])
	f.Add([]byte{})
	f.Add([]byte{0})
	f.Add([]byte{255, 1})
	f.Add(append([]byte{1, 'c'}, make([]byte, 40)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		value, err := r.Open(place, b)
		if err == nil {
			require.Equal(t, "value", string(value))
		}
		id, keyErr := keyring.KeyOf(b)
		if err == nil {
			require.NoError(t, keyErr)
			require.True(t, r.Has(id))
		}
	})
}

func TestRingsThatAreMadeOfOthers(t *testing.T) {
	t.Parallel()
	a, b, other := line("a", 1), line("b", 2), line("a", 3)
	ring := parse(t, a, b)
	require.True(t, ring.Same(parse(t, "# again", a, b)))
	for _, different := range []*keyring.Ring{parse(t, b, a), parse(t, a), parse(t, a, b, line("c", 9)), parse(t, other, b), nil} {
		require.False(t, ring.Same(different))
		require.False(t, different.Same(ring))
	}
	var none *keyring.Ring
	require.True(t, none.Same(nil))

	place := []byte("place")
	all := parse(t, b, other).With(ring)
	require.Equal(t, []string{"b", "a"}, all.IDs())
	_, err := all.Open(place, parse(t, other).Seal(nil, place, []byte("x")))
	require.NoError(t, err, "of two keys with an id, that of the first ring is taken")
	require.Equal(t, []string{"b", "c", "a"}, parse(t, b, line("c", 9)).With(ring).IDs())

	turned := parse(t, a, b, line("c", 9)).SealedBy("b")
	require.Equal(t, []string{"b", "a", "c"}, turned.IDs())
	require.Equal(t, []string{"a", "b"}, ring.SealedBy("none").IDs())
	sealed := turned.Seal(nil, place, []byte("x"))
	_, err = parse(t, b).Open(place, sealed)
	require.NoError(t, err)
}
