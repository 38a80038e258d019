package service

import "context"

// background returns what a daemon does beside its calls. Each ends with its context.
func (s *Service) background() []func(context.Context) {
	all := []func(context.Context){
		s.sweeper.Run,
		s.room.Run,
		func(ctx context.Context) { s.quotas.Run(ctx, s.measuringFailed) },
	}
	if s.shared != nil {
		all = append(all, func(ctx context.Context) { s.watchers.Poll(ctx, s.shared, s.logger) },
			func(ctx context.Context) { s.compactor.WatchInterrupted(ctx, s.lookForEnded) })
	}
	return all
}
