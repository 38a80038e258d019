package recall

import (
	"encoding/binary"
	"unicode/utf8"
)

// place is where a search goes on within a message.
type place struct {
	// text is the number of the text in the message, and line the first byte of the line there.
	text, line int
	// paused is where it goes on in the line; nil at its beginning.
	paused *paused
}

// in returns the place if it is in this text; else nil.
func (p *place) in(text int) *place {
	if p == nil || p.text != text {
		return nil
	}
	return p
}

// within reports that the place is one of a message with these texts, for an expression. Anyone can have written it.
func (p *place) within(texts []searchedPlace, by *Pattern) bool {
	if by == nil || p.text >= len(texts) {
		return false
	}
	text := texts[p.text].text
	if p.line >= len(text) || p.line > 0 && text[p.line-1] != '\n' {
		return false
	}
	s := p.paused
	if s == nil {
		return true
	}
	line := withoutEnd(text[p.line:lineEnd(text, p.line)])
	if s.at > len(line) || s.start > s.at || !beginsCharacter(line, s.at) || !beginsCharacter(line, s.start) {
		return false
	}
	for _, instruction := range s.instructions {
		if int(instruction) >= len(by.program.Inst) {
			return false
		}
	}
	return true
}

// beginsCharacter reports that a character begins at a byte of a line, or the line ends there.
func beginsCharacter(line string, at int) bool { return at == len(line) || utf8.RuneStart(line[at]) }

// append appends the place to a token. The instructions are bits of at most 251 bytes, so that the token keeps to the
// contract's limit.
func (p *place) append(token []byte) []byte {
	token = binary.AppendUvarint(token, uint64(p.text))
	token = binary.AppendUvarint(token, uint64(p.line))
	if p.paused == nil {
		return token
	}
	token = binary.AppendUvarint(token, uint64(p.paused.at))
	token = binary.AppendUvarint(token, uint64(p.paused.start))
	bits := make([]byte, maxInstructions/8+1)
	last := 0
	for _, instruction := range p.paused.instructions {
		bits[instruction/8] |= 1 << (instruction % 8)
		last = max(last, int(instruction)/8+1)
	}
	return append(token, bits[:last]...)
}

// parsePlace reads a place from the end of a token.
func parsePlace(token []byte) (*place, bool) {
	p := &place{}
	rest, ok := readInts(token, &p.text, &p.line)
	if !ok || len(rest) == 0 {
		return p, ok
	}
	p.paused = &paused{}
	if rest, ok = readInts(rest, &p.paused.at, &p.paused.start); !ok || len(rest) > maxInstructions/8+1 {
		return nil, false
	}
	for i := range uint32(8 * len(rest)) {
		if rest[i/8]&(1<<(i%8)) != 0 {
			p.paused.instructions = append(p.paused.instructions, i)
		}
	}
	return p, true
}

// maxPlace bounds the numbers of a place: no message is larger.
const maxPlace = 1 << 31

func readInts(token []byte, into ...*int) (rest []byte, ok bool) {
	for _, n := range into {
		value, width := binary.Uvarint(token)
		if width <= 0 || value >= maxPlace {
			return nil, false
		}
		*n, token = int(value), token[width:]
	}
	return token, true
}
