package access

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/compactord/compactord/service/tenant"
)

const (
	// MaxTokensBytes is how large a file of tokens may be.
	MaxTokensBytes = 2 << 20
	// maxProblems is how many problems of a file are named.
	maxProblems = 50
)

// ErrUnfinished says that a file of tokens ends like one that is still being written.
var ErrUnfinished = errors.New("it is empty or its last line has no end: it seems to be written in part")

// ParseTokens reads a file of tokens. A line has a name, a role, the token's hash, and perhaps an expiry and a tenant,
// separated by blanks; blank lines and those that begin with # mean nothing. The error has all problems, each with its
// line. It quotes nothing of the file: a token may stand where its hash belongs.
func ParseTokens(content []byte) ([]Entry, error) {
	if len(content) > MaxTokensBytes {
		return nil, fmt.Errorf("it has more than %d bytes", MaxTokensBytes)
	}
	if len(content) == 0 || content[len(content)-1] != '\n' {
		return nil, ErrUnfinished
	}
	var entries []Entry
	var problems []error
	lines := make(map[Hash]int)
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		entry, wrong := parseLine(fields)
		if first, twice := lines[entry.Hash]; twice && wrong == nil {
			wrong = []error{fmt.Errorf("line %d has the same hash", first)}
		}
		for _, err := range wrong {
			problems = append(problems, fmt.Errorf("line %d: %w", number, err))
		}
		if wrong == nil {
			lines[entry.Hash] = number
			entries = append(entries, entry)
		}
	}
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems], fmt.Errorf("and %d further problems", more))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return entries, nil
}

// parseLine returns what a line says, or every problem with it.
func parseLine(fields []string) (entry Entry, problems []error) {
	for _, field := range fields {
		if strings.Contains(field, Prefix) {
			return Entry{}, []error{errors.New("here is a token and not its hash: whoever has read the file knows it. Make another one")}
		}
	}
	const least, most = 3, 5
	if len(fields) < least || len(fields) > most {
		return Entry{}, []error{fmt.Errorf("write NAME ROLE %sHASH, and perhaps the time when it expires and %sNAME", hashPrefix, tenantPrefix)}
	}
	note := func(err error) {
		if err != nil {
			problems = append(problems, err)
		}
	}
	entry.Subject = fields[0]
	note(CheckSubject(entry.Subject))
	var err error
	entry.Role, err = ParseRole(fields[1])
	note(err)
	entry.Hash, err = parseHash(fields[2])
	note(err)
	for _, field := range fields[least:] {
		note(parseFurther(&entry, field))
	}
	return entry, problems
}

// parseFurther reads a word after the hash: the tenant or the expiry.
func parseFurther(e *Entry, field string) (err error) {
	if name, found := strings.CutPrefix(field, tenantPrefix); found {
		if e.Tenant != "" {
			return errors.New("it names two tenants")
		}
		e.Tenant = name
		return tenant.Check(name)
	}
	if !e.Expires.IsZero() {
		return errors.New("it has two expiries")
	}
	if e.Expires, err = time.Parse(time.RFC3339, field); err != nil {
		return errors.New("the expiry must be a time such as 2027-01-31T00:00:00Z")
	}
	return nil
}

func parseHash(text string) (hash Hash, err error) {
	digits, found := strings.CutPrefix(text, hashPrefix)
	if !found || len(digits) != 2*len(hash) {
		return Hash{}, fmt.Errorf("the hash must be %s and %d hexadecimal digits", hashPrefix, 2*len(hash))
	}
	if _, err := hex.Decode(hash[:], []byte(digits)); err != nil {
		return Hash{}, fmt.Errorf("the hash must be %s and %d hexadecimal digits", hashPrefix, 2*len(hash))
	}
	return hash, nil
}
