package recall

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A page token is a kind, an index, and the first bytes of a digest of the query, so that it is valid for its search
// only. The index is the start of what is still to be searched, or its end where the newest come first. A place follows
// where the search goes on within the next message.
const (
	pageOfHits      = 's'
	queryDigestSize = 16
)

func (p *page) answer() (*compactordv1.SearchMessagesResponse, error) {
	answer := &compactordv1.SearchMessagesResponse{Hits: p.found}
	if p.start >= p.end {
		return answer, nil
	}
	digest, err := p.digest(p.log.UID())
	if err != nil {
		return nil, err
	}
	edge := p.start
	if p.req.GetNewestFirst() {
		edge = p.end
	}
	token := append(binary.BigEndian.AppendUint32([]byte{pageOfHits}, edge), digest...)
	if p.place != nil {
		token = p.place.append(token)
	}
	answer.NextPageToken = base64.RawURLEncoding.EncodeToString(token)
	return answer, nil
}

// resume continues where the previous page ended.
func (p *page) resume() error {
	if p.token == "" {
		return nil
	}
	digest, err := p.digest(p.log.UID())
	if err != nil {
		return err
	}
	token, err := base64.RawURLEncoding.DecodeString(p.token)
	const whole = 5 + queryDigestSize
	if err != nil || len(token) < whole || token[0] != pageOfHits || !slices.Equal(token[5:whole], digest) {
		return ErrPageToken
	}
	if len(token) > whole {
		var ok bool
		if p.place, ok = parsePlace(token[whole:]); !ok {
			return ErrPageToken
		}
	}
	edge := binary.BigEndian.Uint32(token[1:])
	if edge > p.end {
		return ErrPageToken
	}
	if p.req.GetNewestFirst() {
		p.end = edge
	} else {
		p.start = edge
	}
	return nil
}

// digest returns a hash of a session and of what the request searches for.
func (s *Search) digest(uid string) ([]byte, error) {
	same := proto.CloneOf(s.req)
	same.PageToken, same.PageSize, same.SnippetChars = "", 0, 0
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(same)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	h.Write([]byte(uid))
	h.Write([]byte{0})
	h.Write(encoded)
	return h.Sum(nil)[:queryDigestSize], nil
}
