package apierror

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// rewording is a message of protovalidate's rules, and ours for it.
type rewording struct {
	theirs *regexp.Regexp
	// ours has verbs for the numbers of the message.
	ours string
}

// rewordings say what a rule wants in the words of the other errors. A message that is none of these stays.
var rewordings = sync.OnceValue(func() []rewording {
	return []rewording{
		{regexp.MustCompile(`^must be greater than or equal to (\S+) and less than or equal to (\S+)$`), "must be from %s to %s"},
		{regexp.MustCompile(`^must be greater than (\S+) and less than or equal to (\S+)$`), "must be above %s, up to %s"},
		{regexp.MustCompile(`^must be greater than or equal to (\S+)$`), "must be at least %s"},
		{regexp.MustCompile(`^must be less than or equal to (\S+)$`), "must be at most %s"},
		{regexp.MustCompile(`^must be at least 1 bytes$`), "must not be empty"},
		{regexp.MustCompile(`^must be at least (\d+) bytes$`), "must have at least %s bytes"},
		{regexp.MustCompile(`^must be at most (\d+) bytes$`), "must have at most %s bytes"},
		{regexp.MustCompile(`^must contain at least 1 item\(s\)$`), "must not be empty"},
		{regexp.MustCompile(`^must contain at least (\d+) item\(s\)$`), "must have at least %s entries"},
		{regexp.MustCompile(`^must contain no more than (\d+) item\(s\)$`), "must have at most %s entries"},
		{regexp.MustCompile(`^map must be at most (\d+) entries$`), "must have at most %s entries"},
		{regexp.MustCompile(`^value must be one of the defined enum values$`), "must be a value that this daemon knows"},
		{regexp.MustCompile(`^must not be in list \[0\]$`), "must be set"},
		{regexp.MustCompile(`^value is required$`), "must be set"},
		{regexp.MustCompile(`^exactly one field is required in oneof$`), "exactly one of its kinds must be set"},
	}
})

// inOurWords returns a message of a rule in the words of the other errors.
func inOurWords(message string) string {
	for _, r := range rewordings() {
		found := r.theirs.FindStringSubmatch(message)
		if found == nil {
			continue
		}
		numbers := make([]any, 0, len(found)-1)
		for _, n := range found[1:] {
			numbers = append(numbers, grouped(n))
		}
		return fmt.Sprintf(r.ours, numbers...)
	}
	return message
}

// TooManyEntries returns what is wrong with a field that has more entries than it may have.
func TooManyEntries(most int) string {
	return fmt.Sprintf("must have at most %s entries", grouped(strconv.Itoa(most)))
}

// grouped returns a whole number with its thousands apart, and seconds as a time; other text stays.
func grouped(number string) string {
	if span, err := time.ParseDuration(number); err == nil && strings.HasSuffix(number, "s") {
		return span.String()
	}
	if strings.Trim(number, "0123456789") != "" {
		return number
	}
	for at := len(number) - 3; at > 0; at -= 3 {
		number = number[:at] + "," + number[at:]
	}
	return number
}
