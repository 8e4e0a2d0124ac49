// Package encode reads and writes the files in which machines are described:
// latency matrices as people have them in CSV, and networks of hosts and switches. Each format has
// one file; each reader refuses what it does not understand and says where.
package encode
