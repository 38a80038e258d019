package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// The rules for input, in every dialect. What breaks one of the first three has no clear meaning and is always refused.
// What breaks another is accepted and reported, or refused where the client asked for that.
const (
	InputShape             = "input.shape"
	InputLimit             = "input.limit"
	InputOtherDialect      = "input.other-dialect"
	InputEmptyMessage      = "input.empty-message"
	InputArgumentsNotJSON  = "input.arguments-not-json"
	InputResultsOutOfOrder = "input.results-out-of-order"
	InputResultWithoutCall = "input.result-without-call"
	InputResultRepeated    = "input.result-repeated"
	InputCallIDReused      = "input.call-id-reused"
	InputCallUnanswered    = "input.call-unanswered"
	InputChoicesLeftOut    = "input.choices-left-out"
	InputCompactionLeftOut = "input.compaction-left-out"
	InputHalfCharacter     = "input.half-character"
	InputRepeatedKey       = "input.repeated-key"
	InputStreamCut         = "input.stream-cut"
	InputPartUnreadable    = "input.part-unreadable"
	InputFieldUnreadable   = "input.field-unreadable"
	InputMessageUnreadable = "input.message-unreadable"
)

// InputRules returns the table of the rules for input.
func InputRules() []Rule {
	const ours = "compactord"
	return []Rule{
		{
			ID: InputShape, Source: ours,
			Sentence: "The JSON holds messages of the dialect, and at least half of them can be read. Always refused.",
		},
		{ID: InputLimit, Source: ours, Sentence: "Nothing is larger than a log accepts. Always refused."},
		{
			ID: InputOtherDialect, Source: ours,
			Sentence: "No message has calls, results or texts in the form of another dialect, which would be kept unseen. Always refused.",
		},
		{
			ID: InputPartUnreadable, Source: ours,
			Sentence: "A part of a message can be read: its media are base64, its fields have the right types, and its size is one that a log accepts. A line of text replaces it.",
		},
		{
			ID: InputFieldUnreadable, Source: ours,
			Sentence: "A field beside the parts, such as the usage, can be read. The message is accepted without it.",
		},
		{
			ID: InputMessageUnreadable, Source: ours,
			Sentence: "A message can be read. If at least half of the messages can, a line of text replaces it.",
		},
		{ID: InputEmptyMessage, Source: ours, Sentence: "A message is not empty. It is accepted as a message without parts."},
		{
			ID: InputArgumentsNotJSON, Source: ours,
			Sentence: "The arguments of a call are JSON. Other arguments are kept, and rendered as a JSON object that holds them as text.",
		},
		{
			ID: InputResultsOutOfOrder, Source: ours,
			Sentence: "In a message, tool results come before all other parts. They are accepted as if they did.",
		},
		{
			ID: InputResultWithoutCall, Source: ours,
			Sentence: "A result answers an open call. A stray result is kept, and shown as text of the user.",
		},
		{
			ID: InputResultRepeated, Source: ours,
			Sentence: "A call has one result. The first one counts, and the others are shown as text of the user.",
		},
		{
			ID: InputCallIDReused, Source: ours,
			Sentence: "No two open calls have the same id. Results answer them in order, and views give the later calls other ids.",
		},
		{
			ID: InputCallUnanswered, Source: ours,
			Sentence: "A call has its result before the next message of the user. Otherwise a result is shown that says that there was none.",
		},
		{
			ID: InputChoicesLeftOut, Source: ours,
			Sentence: "A response has one choice. The first one counts, and the others are left out.",
		},
		{
			ID: InputStreamCut, Source: ours,
			Sentence: "A streamed answer is complete. Otherwise it is accepted as aborted, unless the request says why the model stopped.",
		},
		{
			ID: InputHalfCharacter, Source: ours,
			Sentence: "There are no unpaired halves of surrogate pairs. Views show the replacement character instead.",
		},
		{
			ID: InputRepeatedKey, Source: ours,
			Sentence: "An object of the JSON has each key once. Otherwise the JSON is kept as it is, and the last value counts.",
		},
		{
			ID: InputCompactionLeftOut, Source: ours,
			Sentence: "An imported compaction cuts where a cut is valid, and makes the view smaller. Otherwise it is left out.",
		},
	}
}

// HalfCharacters returns the positions of the messages in a list that hold an unpaired half of a surrogate pair.
// Programs that count UTF-16 units leave such halves where they cut a text within a character. No provider accepts
// them, and no log can hold them.
func HalfCharacters(d Dialect, raw string) []int {
	if !strings.Contains(raw, `\ud`) && !strings.Contains(raw, `\uD`) {
		return nil
	}
	list, err := d.Split([]byte(raw))
	if err != nil {
		return nil
	}
	var found []int
	for i, message := range list.Messages {
		if !rawjson.Keeps(message) {
			found = append(found, i)
		}
	}
	return found
}

// RepeatedKeys returns the positions of the messages in a list, of valid JSON, in which an object has a key twice. If it
// is not in a message, the first one stands for the list.
func RepeatedKeys(d Dialect, raw string) []int {
	if !rawjson.RepeatsKey([]byte(raw)) {
		return nil
	}
	list, err := d.Split([]byte(raw))
	if err != nil {
		return []int{0}
	}
	var found []int
	for i, message := range list.Messages {
		if rawjson.RepeatsKey(message) {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return []int{0}
	}
	return found
}

// RepeatsKey says whether an object in a text of JSON has a key twice. It is false for other texts.
func RepeatsKey(text string) bool {
	raw := []byte(text)
	return strings.Contains(text, ":") && rawjson.RepeatsKey(raw) && rawjson.Valid(raw)
}

var errNotUTF8 = errors.New("is not valid UTF-8")

// ValidJSON returns the JSON of an input without the space around it. It checks all of it, so that the values within
// need no second check.
func ValidJSON(raw []byte) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if !utf8.Valid(raw) {
		return nil, errNotUTF8
	}
	if !rawjson.Valid(raw) {
		_, err := rawjson.ParseObject(raw)
		return nil, err
	}
	return raw, nil
}

// Finding is something malformed that was accepted.
type Finding struct {
	// Rule is one of the rules for input.
	Rule string
	// Message and Part are positions in the provider's list.
	Message, Part int
	// Text says what is malformed and what was made of it, in one sentence that quotes nothing.
	Text string
	// Cause is the error where something could not be read, otherwise nil.
	Cause *InputError
}

// InputError describes input without a clear meaning. It quotes nothing of the input.
type InputError struct {
	// Rule is one of the rules for input.
	Rule string
	// Message and Part are positions in the provider's list. Message is -1 where the input is no list.
	Message, Part int
	// Field is the path of the field within the message, such as `content[1].source.data`. It can be empty.
	Field string
	// Err says what is wrong.
	Err error
}

func (e *InputError) Error() string {
	place := ""
	if e.Message >= 0 {
		place = fmt.Sprintf("message %d: ", e.Message)
	}
	if e.Field != "" {
		place += e.Field + ": "
	}
	return place + e.Err.Error()
}

func (e *InputError) Unwrap() error { return e.Err }

// ErrLimit marks an input that is larger than a log accepts. Malformed chooses the rule by it.
var ErrLimit = rawjson.ErrTooLarge

// Malformed makes an InputError from an error at a part of a message.
func Malformed(message, part int, err error) error {
	known := &InputError{}
	if err == nil || errors.As(err, &known) {
		return err
	}
	e := &InputError{Rule: InputShape, Message: message, Part: part, Err: err}
	if errors.Is(err, ErrLimit) {
		e.Rule = InputLimit
	}
	if isOtherDialect(err) {
		e.Rule = InputOtherDialect
	}
	field := &rawjson.FieldError{}
	if errors.As(err, &field) {
		e.Field, e.Err = field.Path, field.Err
	}
	return e
}
