package requests

import (
	"context"
	"errors"
	"io"
)

// unsized receives a message whose length only its end shows. The memory that is reserved for it grows with it.
func (a *arrival) unsized(ctx context.Context) ([]byte, *share, error) {
	source, is := a.stream.(bare)
	if !is {
		return nil, nil, errors.New("a message with a header has no length")
	}
	reserved, err := a.Budget.takeArriving(clientOf(ctx), smallBytes, a.end)
	if err != nil {
		a.discardUnsized(source)
		return nil, nil, a.Budget.refusal(err)
	}
	content := make([]byte, 0, min(smallBytes, a.maxBytes()+1))
	for {
		if len(content) == cap(content) {
			if err := a.widen(reserved, &content); err != nil {
				a.discardUnsized(source)
				return nil, reserved, err
			}
		}
		a.startTimer()
		n, err := source.ReadSome(content[len(content):cap(content)])
		content = content[:len(content)+n]
		switch {
		case errors.Is(err, io.EOF):
			return content, reserved, a.checkSize(len(content))
		case err != nil:
			return nil, reserved, a.broken(ctx, err)
		}
		reserved.advance()
	}
}

// widen makes room for twice as many bytes, up to one more than a request may have. For a moment there are both buffers.
func (a *arrival) widen(reserved *share, content *[]byte) error {
	has := len(*content)
	if err := a.checkSize(has); err != nil {
		return err
	}
	next := min(2*has, a.maxBytes()+1)
	if err := reserved.expect(int64(has + next)); err != nil {
		return a.Budget.refusal(err)
	}
	*content = append(make([]byte, 0, next), *content...)
	return nil
}

// discardUnsized receives the rest of a message that was refused, as far as others would be received.
func (a *arrival) discardUnsized(source bare) {
	dropped := make([]byte, narrowPiece)
	for left := hardLimitFactor * a.maxBytes(); left > 0; {
		a.startTimer()
		n, err := source.ReadSome(dropped)
		if err != nil {
			return
		}
		left -= n
	}
}
