// Package admission bounds how much expensive work runs at a time, so that small calls find a free core. Each kind of
// expensive work has a pool. A call enters it with a weight, waits while the pool is full, and leaves it at its end:
//
//	ctx, permit, err := pools.Compactions.Enter(ctx, admission.WeightOf(bytes), nil)
//	if err != nil {
//		return err
//	}
//	defer permit.Leave()
//
// Appends and small reads enter no pool. Where such appends came while compactions, imports or views worked, these rest at
// their end, so that the appends do not always find the cores and the store busy. The context says that its work has entered
// one: what is called with it does not wait a second time. A call must enter before it locks a session, since what holds
// permits waits for these locks.
package admission
