package dialect

import "fmt"

// The bounds of the contract. Parsing refuses what exceeds one, since there the place is known.
const (
	MaxText        = 32 << 20
	MaxName        = 256
	MaxID          = 512
	MaxFileName    = 1024
	MaxURI         = 8 << 10
	MaxErrorText   = 64 << 10
	MaxParts       = 10_000
	MaxResultParts = 1000
	MaxAttachments = 64
	MaxMessages    = 100_000
)

// BoundMessages returns an error where there are more messages than a log accepts.
func BoundMessages(messages int) error {
	if messages > MaxMessages {
		return fmt.Errorf("%w: more than %d messages", ErrLimit, MaxMessages)
	}
	return nil
}
