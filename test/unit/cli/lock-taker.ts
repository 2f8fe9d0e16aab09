// Tries to take the lock of a data directory at a given moment, for data-dir.test.ts.
import { openDataDir } from '#cli/data/data-dir.ts'

const [path = '', atMs = '0'] = process.argv.slice(2)
// Busy, not asleep: all takers should try in the same instant.
while (Date.now() < Number(atMs));
process.stdout.write(openDataDir(path).ok ? 'taken\n' : 'refused\n')
// A holder that ended would leave its lock to the next one.
process.stdin.resume().once('close', () => process.exit())
