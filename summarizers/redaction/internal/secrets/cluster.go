package secrets

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

const (
	// beforeKind and afterKind are how much of an object is read around its kind.
	beforeKind, afterKind = 2 << 10, 4 << 10
)

// findClusterSecret finds the values in a Secret of Kubernetes, in YAML or JSON.
func findClusterSecret(r *reading, rule, start, end int) {
	if end < len(r.text) && wordByte(r.text[end]) {
		return
	}
	from, to := max(start-beforeKind, r.until[rule]), min(end+afterKind, len(r.text))
	if i := strings.Index(r.text[end:to], "\n---"); i >= 0 {
		to = end + i
	}
	if i := strings.LastIndex(r.text[from:start], "\n---"); i >= 0 {
		from += i + 4
	}
	r.until[rule] = to
	for at := from; at < to; {
		i := strings.Index(r.text[at:to], "ata")
		if i < 0 {
			return
		}
		end := at + i + len("ata")
		if plain := strings.HasSuffix(r.text[:end], "stringData"); plain || strings.HasSuffix(r.text[:end], "data") {
			end = r.clusterData(rule, end, to, plain)
		}
		at = end
	}
}

// clusterData adds the values behind a name such as data, and returns where they end.
func (r *reading) clusterData(rule, at, to int, plain bool) int {
	text := r.text[:to]
	for at < to && strings.IndexByte("\"' \t", text[at]) >= 0 {
		at++
	}
	if at >= to || text[at] != ':' {
		return at
	}
	at++
	if json := strings.TrimLeft(text[at:], " \t\r\n"); strings.HasPrefix(json, "{") {
		end := strings.IndexByte(text[at:], '}')
		if end < 0 {
			end = to - at
		}
		for pair := range strings.SplitSeq(text[at:at+end], ",") {
			if colon := strings.LastIndexByte(pair, ':'); colon >= 0 {
				r.clusterValue(rule, at+colon+1, plain)
			}
			at += len(pair) + 1
		}
		return at
	}
	for first := true; at < to; first = false {
		end := to
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := text[at:end]
		if !first && strings.TrimSpace(line) != "" && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
			return at
		}
		if colon := strings.IndexByte(line, ':'); colon >= 0 {
			r.clusterValue(rule, at+colon+1, plain)
		}
		at = end
	}
	return at
}

// clusterValue adds a value if it may be one of a Secret.
func (r *reading) clusterValue(rule, at int, plain bool) {
	v := valueAt(r.text, at)
	text := r.text[v.start:v.end]
	if len(text) < 6 || standIn(text) || text == "Opaque" {
		return
	}
	if m := mixtureOf(text); plain && m.digits > 0 && m.letters() > 0 ||
		!plain && len(text) >= 8 && runOf(text, 0, &base64Bytes, len(text)) == len(text) && printable(text) {
		r.add(rule, v.start, v.end)
	}
}

// printable says whether a text is base64 of something that can be written.
func printable(text string) bool {
	decoded, err := base64.StdEncoding.DecodeString(text)
	return err == nil && len(decoded) >= 4 && (utf8.Valid(decoded) || len(decoded) >= 16)
}

// findRegistryLogins finds all of Docker's settings in base64, by how they begin: {"auths":
func findRegistryLogins(r *reading, rule, start, end int) {
	stop := runOf(r.text, end, &base64Bytes, keyBytes)
	r.until[rule] = stop
	if stop-end >= 32 && (start == 0 || !wordByte(r.text[start-1])) {
		r.add(rule, start, stop)
	}
}

// findRegistryLogin finds the login of a registry in Docker's settings: a name and a password in base64.
func findRegistryLogin(r *reading, rule, _, end int) {
	at := end
	for n := 0; n < 4 && at < len(r.text) && strings.IndexByte("\" \t:", r.text[at]) >= 0; n++ {
		at++
	}
	stop := runOf(r.text, at, &base64Bytes, valueBytes)
	decoded, err := base64.StdEncoding.DecodeString(r.text[at:stop])
	if name, password, found := strings.Cut(string(decoded), ":"); err == nil && found && name != "" && password != "" && utf8.Valid(decoded) {
		r.add(rule, at, stop)
		r.until[rule] = stop
	}
}
