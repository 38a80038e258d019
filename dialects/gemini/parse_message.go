package gemini

import (
	"encoding/json"
	"strconv"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func parseSystem(raw json.RawMessage) (*compactordv1.Message, error) {
	m := &compactordv1.Message{Role: compactordv1.Role_ROLE_SYSTEM}
	if rawjson.KindOf(raw) == rawjson.String {
		part, err := parseText(rawjson.Object{"text": raw}, nil)
		if err != nil {
			return nil, err
		}
		m.Parts = []*compactordv1.Part{part}
		m.Attachments = []*compactordv1.Attachment{dialect.Note(kind, noteSystem, plainText)}
		return m, nil
	}
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return nil, err
	}
	elements, err := contentOf(o, m, "")
	if err != nil {
		return nil, err
	}
	for i, element := range elements {
		part, err := parsePart(element)
		if err == nil && part.GetText() == nil {
			err = errOnlyText
		}
		if err != nil {
			return nil, rawjson.In("parts", rawjson.InElement(i, err))
		}
		m.Parts = append(m.Parts, part)
	}
	return m, nil
}

// contentOf returns the parts of a content, and attaches the other fields to the message.
func contentOf(o rawjson.Object, m *compactordv1.Message, role string) ([]json.RawMessage, error) {
	usual := rawjson.Object{"parts": []byte("[]")}
	if role != "" {
		usual["role"] = rawjson.Quote(role)
	}
	var elements []json.RawMessage
	var notes []*compactordv1.Attachment
	var except []string
	switch rawjson.KindOf(o["parts"]) {
	case rawjson.Missing, rawjson.Null:
		if has(o, "candidates") {
			return nil, errStreamed
		}
		// A content with other fields and no parts is another provider's message.
		if len(o.Others("role")) > 0 || !has(o, "role") && !has(o, "parts") {
			return nil, rawjson.In("parts", rawjson.ErrMissing)
		}
	case rawjson.ObjectKind:
		elements, except = []json.RawMessage{o["parts"]}, []string{"parts"}
		notes = append(notes, dialect.Note(kind, noteParts, onePart))
	default:
		var err error
		if elements, err = o.SplitElements("parts"); err != nil {
			return nil, err
		}
		except = []string{"parts"}
	}
	if len(elements) > dialect.MaxParts {
		return nil, rawjson.In("parts", rawjson.TooLarge(len(elements), dialect.MaxParts))
	}
	residue, err := dialect.Residue(kind, o, usual, except...)
	if err != nil {
		return nil, err
	}
	m.Attachments = append(residue, notes...)
	return elements, dialect.BoundAttachments(m.GetAttachments())
}

func (p *parser) parseContent(raw json.RawMessage) error {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return err
	}
	if err := dialect.CheckDialect(kind, o); err != nil {
		return err
	}
	role, usual, err := roleOf(o)
	if err != nil {
		return rawjson.In("role", err)
	}
	whole := &compactordv1.Message{Role: role}
	elements, err := contentOf(o, whole, usual)
	if err != nil {
		return err
	}
	if len(elements) == 0 {
		p.find(dialect.InputEmptyMessage, "the content has no parts; it was accepted as a message without parts")
	}
	results, err := p.parseParts(elements, whole)
	if err != nil {
		return err
	}
	p.part = 0
	return p.addMessages(whole, results)
}

// roleOf returns the role of a content, and the usual word for it.
func roleOf(o rawjson.Object) (role compactordv1.Role, usual string, err error) {
	switch {
	case o.IsText("role", roleModel):
		return compactordv1.Role_ROLE_ASSISTANT, roleModel, nil
	case !o.Has("role"), o.IsText("role", roleUser), o.IsText("role", roleFunction):
		return compactordv1.Role_ROLE_USER, roleUser, nil
	default:
		return 0, "", errRole
	}
}

// parseParts parses the parts of a content. It returns results with their positions, and adds all other parts to the
// message.
func (p *parser) parseParts(elements []json.RawMessage, m *compactordv1.Message) ([]placedResult, error) {
	var results []placedResult
	for i, element := range elements {
		p.part = i
		part, err := parsePart(element)
		if err == nil {
			part, err = p.fitPart(m.GetRole(), part, element)
		}
		if err != nil {
			return nil, rawjson.In("parts", rawjson.InElement(i, err))
		}
		if part.GetToolResult() != nil {
			results = append(results, placedResult{at: i, part: part})
		} else {
			m.Parts = append(m.Parts, part)
		}
	}
	return results, nil
}

// addMessages makes one message for each result of a content, and one for the other parts.
func (p *parser) addMessages(m *compactordv1.Message, results []placedResult) error {
	if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT {
		p.calls = openCallsOf(m)
		p.afterResults = false
		p.add(p.at, m)
		return nil
	}
	if p.calls.pair(results) {
		p.find(dialect.InputResultsOutOfOrder,
			"results without ids have another order than their calls; they were accepted in the order of the calls")
	}
	if !leading(results, len(m.GetParts()) > 0) {
		p.find(dialect.InputResultsOutOfOrder, "results come after other parts; they were accepted as if they came first")
	}
	for i, r := range results {
		answer := &compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{r.part}}
		if i == 0 {
			answer.Attachments = m.GetAttachments()
			if p.afterResults {
				answer.Attachments = append(answer.Attachments, dialect.Note(kind, noteContent, newContent))
			}
		}
		if r.at != i {
			answer.Attachments = append(answer.Attachments, dialect.Note(kind, noteAt, strconv.Itoa(r.at)))
		}
		if err := dialect.BoundAttachments(answer.GetAttachments()); err != nil {
			return err
		}
		if err := dialect.BoundAttachments(r.part.GetAttachments()); err != nil {
			return err
		}
		p.add(p.at, answer)
	}
	p.afterResults = len(results) > 0 && len(m.GetParts()) == 0
	if len(results) > 0 && len(m.GetParts()) == 0 {
		return nil
	}
	if len(results) > 0 {
		m.Attachments = []*compactordv1.Attachment{dialect.Note(kind, noteContent, sameContent)}
	}
	p.add(p.at, m)
	return nil
}

// leading reports whether the results come before all other parts of their content.
func leading(results []placedResult, mixed bool) bool {
	for _, r := range results {
		if mixed && r.at >= len(results) {
			return false
		}
	}
	return true
}
