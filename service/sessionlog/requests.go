package sessionlog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/storage"
)

// A request with a request_id is stored with its answer. Where it is sent again, the recorded answer is returned and
// nothing else happens.

// Identified is a request that may have a request_id.
type Identified interface {
	proto.Message
	GetRequestId() string
}

// Recorded fills answer with the recorded answer to the request. It returns false where the request is new.
func (l *Logs) Recorded(
	ctx context.Context, row *storagev1.Session, req Identified, answer proto.Message,
) (bool, error) {
	if req.GetRequestId() == "" {
		return false, nil
	}
	stored, err := l.store.Request(ctx, storage.RefOf(row), req.GetRequestId())
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	digest, err := requestDigest(req)
	if err != nil {
		return false, err
	}
	if !bytes.Equal(digest, stored.GetDigest()) {
		return false, apierror.New(compactordv1.ErrorReason_ERROR_REASON_REQUEST_ID_REUSED,
			map[string]string{"request_id": req.GetRequestId()},
			"request_id: %q was used with another request", req.GetRequestId())
	}
	if err := proto.Unmarshal(stored.GetResponse(), answer); err != nil {
		return false, fmt.Errorf("%w: recorded answer: %w", storage.ErrCorrupt, err)
	}
	return true, nil
}

// Requests returns remembered requests of a session, as storage.Store does.
func (l *Logs) Requests(ctx context.Context, row *storagev1.Session, after string, limit int) ([]storage.Request, error) {
	return l.store.Requests(ctx, storage.RefOf(row), after, limit)
}

// Remember stores the request with its answer.
func (w *Write) Remember(req Identified, answer proto.Message) error {
	if req.GetRequestId() == "" {
		return nil
	}
	digest, err := requestDigest(req)
	if err != nil {
		return err
	}
	response, err := proto.Marshal(answer)
	if err != nil {
		return err
	}
	w.commit.Request = &storage.Request{
		ID: req.GetRequestId(),
		Stored: &storagev1.StoredRequest{
			Schema: 1, Digest: digest, Response: response, Sequence: w.Head().GetNextSequence() - 1,
		},
	}
	return nil
}

func requestDigest(req proto.Message) ([]byte, error) {
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(req)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	h.Write([]byte(req.ProtoReflect().Descriptor().FullName()))
	h.Write([]byte{0})
	h.Write(encoded)
	return h.Sum(nil), nil
}
