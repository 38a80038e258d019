package recall

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Logs are several logs in the order of a search.
type Logs interface {
	// First returns the first log.
	First() Log
	// Seek returns the log of the session with this id, and goes on after it; nil where there is no such log.
	Seek(ctx context.Context, sessionID string) (Log, error)
	// Next returns the log after the one that was returned last; nil where that was the last.
	Next(ctx context.Context) (Log, error)
}

// PageOfAll is Page over several logs, one after the other, within the bounds of one call. Each hit has the id of its
// session, except those of the first log.
func (s *Search) PageOfAll(ctx context.Context, logs Logs, over func() bool) (*compactordv1.SearchMessagesResponse, error) {
	s.work.Until(over)
	log, err := s.resumeIn(ctx, logs)
	if err != nil {
		return nil, err
	}
	all := &compactordv1.SearchMessagesResponse{}
	for log != nil {
		page, err := s.pageOf(ctx, log)
		if err != nil {
			return nil, err
		}
		for _, hit := range page.GetHits() {
			if log.UID() != logs.First().UID() {
				hit.SessionId = log.SessionID()
			}
			all.Hits = append(all.Hits, hit)
		}
		s.token = page.GetNextPageToken()
		if s.token == "" {
			if log, err = logs.Next(ctx); err != nil {
				return nil, err
			}
		}
		if log != nil && (s.token != "" || s.over()) {
			all.NextPageToken, err = s.tokenIn(logs, log)
			return all, err
		}
	}
	return all, nil
}

// A page token of several logs is a kind, the first bytes of a digest of the query, the id of the session where the search
// goes on, and the token there, which is empty at the beginning of its log.
const pageOfLogs = 't'

// tokenIn returns the token for the rest of a log and the logs after it.
func (s *Search) tokenIn(logs Logs, log Log) (string, error) {
	digest, err := s.digest(logs.First().UID())
	if err != nil {
		return "", err
	}
	inner, err := base64.RawURLEncoding.DecodeString(s.token)
	if err != nil {
		return "", err
	}
	token := append([]byte{pageOfLogs}, digest...)
	token = binary.AppendUvarint(token, uint64(len(log.SessionID())))
	token = append(append(token, log.SessionID()...), inner...)
	return base64.RawURLEncoding.EncodeToString(token), nil
}

// resumeIn returns the log where the previous page ended, and prepares the search to go on there.
func (s *Search) resumeIn(ctx context.Context, logs Logs) (Log, error) {
	if s.token == "" {
		return logs.First(), nil
	}
	digest, err := s.digest(logs.First().UID())
	if err != nil {
		return nil, err
	}
	token, err := base64.RawURLEncoding.DecodeString(s.token)
	if err != nil || len(token) <= queryDigestSize || token[0] != pageOfLogs ||
		!slices.Equal(token[1:1+queryDigestSize], digest) {
		return nil, ErrPageToken
	}
	var length int
	rest, ok := readInts(token[1+queryDigestSize:], &length)
	if !ok || length > len(rest) {
		return nil, ErrPageToken
	}
	log, err := logs.Seek(ctx, string(rest[:length]))
	if err == nil && log == nil {
		err = ErrPageToken
	}
	s.token = base64.RawURLEncoding.EncodeToString(rest[length:])
	return log, err
}
