// Package servet measures what the suite Servet 3.0 does (Gonzalez-Dominguez et al. 2013):
//
//	d, err := servet.Distance(ctx, comm, nil) // how distance slows messages down while all hosts send
//	a, err := servet.Access(ctx, comm, nil)   // how processes of one host slow each other down
//	...
//	settings.Degradation, err = servet.Degradation(d, a) // on rank 0, for model.New or model.Fit
package servet
