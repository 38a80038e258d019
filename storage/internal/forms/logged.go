package forms

import (
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// readLogged reads a LoggedMessage as this program writes it, in half of the time of proto.Unmarshal, which sets each part
// by reflection, and of the search for unknown fields after it. It returns nil for any other encoding. That one is read by
// proto.Unmarshal, and judged by what comes of it: a field that the contract gets later costs time until it is added here,
// and nothing else.
func readLogged(b []byte) *compactordv1.LoggedMessage {
	logged, _ := readSharing(b, false)
	return logged
}

// readSharing is readLogged. Where texts share memory, it also returns the encoding of the message within, of which they
// are parts: that saves the copy of each, and keeps all of it as long as one of them.
func readSharing(b []byte, share bool) (_ *compactordv1.LoggedMessage, encoding string) {
	made := new(struct {
		logged  compactordv1.LoggedMessage
		message compactordv1.Message
		part    [1]*compactordv1.Part
	})
	// Outlines keep these, and must not keep the texts with them.
	beside := new(struct {
		at   timestamppb.Timestamp
		size [1]uint32
	})
	m, f := &made.logged, fields{rest: b}
	for f.next(10, 14) {
		switch f.number {
		case 1:
			m.Index = f.uint32()
		case 2:
			m.Sequence = f.uint32()
		case 3:
			m.Message = &made.message
			inner := f.inner()
			if share {
				encoding = inner.share()
			}
			f.need(readMessage(&made.message, made.part[:0], inner))
		case 4:
			m.Tokens = f.uint32()
		case 5:
			m.PartSizes = f.uint32s(beside.size[:0])
		case 6:
			m.AppendedAt = &beside.at
			f.need(readTime(&beside.at, f.inner()))
		case 7:
			m.ViewPoint = f.uint32()
		case 8:
			m.ResultPlace = compactordv1.ResultPlace(f.int32())
		case 9:
			answers := new(compactordv1.CallRef)
			m.Answers = answers
			f.need(readCallRef(answers, f.inner()))
		case 10:
			m.Closes = append(m.Closes, other(&f, new(compactordv1.CallRef)))
		case 11:
			m.State = compactordv1.MessageState(f.int32())
		case 12:
			m.LoopViewPoint = f.uint32()
		case 13:
			m.Pinned = f.bool()
		case 14:
			m.ArrivalEdits = append(m.ArrivalEdits, other(&f, new(compactordv1.Edit)))
		case 15:
			m.ParentIndex = proto.Uint32(f.anyUint32())
		case 16:
			m.Child = other(&f, new(compactordv1.ChildRef))
		case 17:
			m.ExtraTokens = f.uint32()
		case 18:
			m.Listed = other(&f, new(compactordv1.ListedElements))
		default:
			f.failed = true
		}
	}
	if f.failed {
		return nil, ""
	}
	return m, encoding
}

// readMessage reads a message. Its parts are in room, where that is enough.
func readMessage(m *compactordv1.Message, room []*compactordv1.Part, f fields) bool {
	for f.next(3, 8) {
		switch f.number {
		case 1:
			m.Role = compactordv1.Role(f.int32())
		case 2:
			m.Origin = compactordv1.Origin(f.int32())
		case 3:
			if len(m.GetParts()) == 0 {
				m.Parts = slices.Grow(room, 1+countAhead(f.rest, 3))
			}
			part, ok := readPart(f.inner())
			f.need(ok)
			m.Parts = append(m.Parts, part)
		case 4:
			m.StopReason = compactordv1.StopReason(f.int32())
		case 5:
			m.Usage = other(&f, new(compactordv1.Usage))
		case 6:
			m.Model = f.text()
		case 7:
			m.Name = f.text()
		case 8:
			m.Attachments = append(m.Attachments, other(&f, new(compactordv1.Attachment)))
		case 9:
			m.SourcePosition = proto.Uint32(f.anyUint32())
		case 10:
			m.ErrorText = f.text()
		case 11:
			at := new(timestamppb.Timestamp)
			m.WrittenAt = at
			f.need(readTime(at, f.inner()))
		default:
			f.failed = true
		}
	}
	return !f.failed
}

// countAhead returns how many fields with a number follow the one at which an encoding begins.
func countAhead(rest []byte, number protowire.Number) (more int) {
	for {
		_, n := protowire.ConsumeBytes(rest)
		if n < 0 || n == len(rest) {
			return more
		}
		rest = rest[n:]
		next, wire, n := protowire.ConsumeTag(rest)
		if n < 0 || next != number || wire != protowire.BytesType {
			return more
		}
		rest, more = rest[n:], more+1
	}
}

// textOnly and callOnly are the first bytes of a part that is a text, a call or a result and has no attachments.
const (
	textOnly   = 1<<3 | byte(protowire.BytesType)
	callOnly   = 3<<3 | byte(protowire.BytesType)
	resultOnly = 4<<3 | byte(protowire.BytesType)
)

// readPart reads a part of a message. What is in one of the usual parts is allocated with it.
func readPart(f fields) (*compactordv1.Part, bool) {
	if len(f.rest) == 0 {
		return new(compactordv1.Part), true
	}
	switch f.rest[0] {
	case textOnly:
		made := new(struct {
			part compactordv1.Part
			kind compactordv1.Part_Text
			text compactordv1.TextPart
		})
		made.part.Kind, made.kind.Text = &made.kind, &made.text
		return &made.part, f.next() && readText(&made.text, f.inner()) && f.ended()
	case callOnly:
		made := new(struct {
			part compactordv1.Part
			kind compactordv1.Part_ToolCall
			call compactordv1.ToolCall
		})
		made.part.Kind, made.kind.ToolCall = &made.kind, &made.call
		return &made.part, f.next() && readCall(&made.call, f.inner()) && f.ended()
	case resultOnly:
		made := new(struct {
			part   compactordv1.Part
			kind   compactordv1.Part_ToolResult
			result compactordv1.ToolResult
		})
		made.part.Kind, made.kind.ToolResult = &made.kind, &made.result
		return &made.part, f.next() && readResult(&made.result, f.inner()) && f.ended()
	default:
		return readOtherPart(f)
	}
}

// readOtherPart reads a part that may have attachments. The kind comes after them.
func readOtherPart(f fields) (*compactordv1.Part, bool) {
	part := new(compactordv1.Part)
	for f.next() {
		switch f.number {
		case 1:
			text := new(compactordv1.TextPart)
			part.Kind = &compactordv1.Part_Text{Text: text}
			f.need(readText(text, f.inner()))
		case 2:
			thinking := new(compactordv1.ThinkingPart)
			part.Kind = &compactordv1.Part_Thinking{Thinking: thinking}
			f.need(readThinking(thinking, f.inner()))
		case 3:
			call := new(compactordv1.ToolCall)
			part.Kind = &compactordv1.Part_ToolCall{ToolCall: call}
			f.need(readCall(call, f.inner()))
		case 4:
			result := new(compactordv1.ToolResult)
			part.Kind = &compactordv1.Part_ToolResult{ToolResult: result}
			f.need(readResult(result, f.inner()))
		case 5:
			part.Kind = &compactordv1.Part_Media{Media: other(&f, new(compactordv1.MediaPart))}
		case 6:
			part.Kind = &compactordv1.Part_Opaque{Opaque: other(&f, new(compactordv1.OpaquePart))}
		case 7:
			part.Attachments = append(part.Attachments, other(&f, new(compactordv1.Attachment)))
			f.number = 0
		default:
			f.failed = true
		}
		f.need(part.Kind == nil || f.ended())
	}
	return part, !f.failed
}

func readText(m *compactordv1.TextPart, f fields) bool {
	for f.next() {
		switch f.number {
		case 1:
			m.Text = f.text()
		case 2:
			m.Refusal = f.bool()
		default:
			f.failed = true
		}
	}
	return !f.failed
}

func readThinking(m *compactordv1.ThinkingPart, f fields) bool {
	for f.next() {
		switch f.number {
		case 1:
			m.Text = f.text()
		case 2:
			m.Redacted = f.bool()
		default:
			f.failed = true
		}
	}
	return !f.failed
}

func readCall(m *compactordv1.ToolCall, f fields) bool {
	for f.next() {
		switch f.number {
		case 1:
			m.Id = f.text()
		case 2:
			m.Name = f.text()
		case 3:
			m.Arguments = f.text()
		default:
			f.failed = true
		}
	}
	return !f.failed
}

func readResult(m *compactordv1.ToolResult, f fields) bool {
	for f.next(3, 5) {
		switch f.number {
		case 1:
			m.CallId = f.text()
		case 2:
			m.Name = f.text()
		case 3:
			piece, ok := readResultPart(f.inner())
			f.need(ok)
			m.Parts = append(m.Parts, piece)
		case 4:
			m.IsError = f.bool()
		case 5:
			m.Files = append(m.Files, other(&f, new(compactordv1.FileTouch)))
		default:
			f.failed = true
		}
	}
	return !f.failed
}

func readResultPart(f fields) (*compactordv1.ResultPart, bool) {
	if len(f.rest) > 0 && f.rest[0] == textOnly {
		made := new(struct {
			part compactordv1.ResultPart
			kind compactordv1.ResultPart_Text
			text compactordv1.TextPart
		})
		made.part.Kind, made.kind.Text = &made.kind, &made.text
		return &made.part, f.next() && readText(&made.text, f.inner()) && f.ended()
	}
	part := new(compactordv1.ResultPart)
	for f.next() {
		switch f.number {
		case 1:
			text := new(compactordv1.TextPart)
			part.Kind = &compactordv1.ResultPart_Text{Text: text}
			f.need(readText(text, f.inner()))
		case 2:
			part.Kind = &compactordv1.ResultPart_Media{Media: other(&f, new(compactordv1.MediaPart))}
		case 3:
			part.Kind = &compactordv1.ResultPart_Opaque{Opaque: other(&f, new(compactordv1.OpaquePart))}
		case 4:
			part.Attachments = append(part.Attachments, other(&f, new(compactordv1.Attachment)))
			f.number = 0
		default:
			f.failed = true
		}
		f.need(part.Kind == nil || f.ended())
	}
	return part, !f.failed
}

func readCallRef(m *compactordv1.CallRef, f fields) bool {
	for f.next() {
		switch f.number {
		case 1:
			m.Index = f.uint32()
		case 2:
			m.Part = f.uint32()
		case 3:
			m.Id = f.text()
		case 4:
			m.Name = f.text()
		default:
			f.failed = true
		}
	}
	return !f.failed
}

// readTime reads a time since 1970.
func readTime(m *timestamppb.Timestamp, f fields) bool {
	for f.next() {
		switch f.number {
		case 1:
			seconds := f.varint()
			f.need(seconds > 0 && seconds <= math.MaxInt64)
			m.Seconds = int64(seconds)
		case 2:
			m.Nanos = f.int32()
		default:
			f.failed = true
		}
	}
	return !f.failed
}
