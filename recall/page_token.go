package recall

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A page token is a kind, the index where what is still to be searched begins or ends, and the beginning of a digest of
// the query, so that the pages of one search are not taken for those of another.
const (
	pageOfHits      = 's'
	queryDigestSize = 16
)

func (p *page) answer() (*compactordv1.SearchMessagesResponse, error) {
	answer := &compactordv1.SearchMessagesResponse{Hits: p.found}
	if p.start >= p.end {
		return answer, nil
	}
	digest, err := p.digest()
	if err != nil {
		return nil, err
	}
	edge := p.start
	if p.req.GetNewestFirst() {
		edge = p.end
	}
	token := append(binary.BigEndian.AppendUint32([]byte{pageOfHits}, edge), digest...)
	answer.NextPageToken = base64.RawURLEncoding.EncodeToString(token)
	return answer, nil
}

// resume goes on where the page before ended.
func (p *page) resume() error {
	if p.req.GetPageToken() == "" {
		return nil
	}
	digest, err := p.digest()
	if err != nil {
		return err
	}
	token, err := base64.RawURLEncoding.DecodeString(p.req.GetPageToken())
	if err != nil || len(token) != 5+queryDigestSize || token[0] != pageOfHits || !slices.Equal(token[5:], digest) {
		return ErrPageToken
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

// digest stands for what is searched for, and in which session.
func (p *page) digest() ([]byte, error) {
	same := proto.CloneOf(p.req)
	same.PageToken, same.PageSize, same.SnippetChars = "", 0, 0
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(same)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	h.Write([]byte(p.log.UID()))
	h.Write([]byte{0})
	h.Write(encoded)
	return h.Sum(nil)[:queryDigestSize], nil
}
