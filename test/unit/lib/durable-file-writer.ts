// A process that replaces one file again and again until it is killed.
import { writeDurably } from '#lib/durable-file.ts'

const path = process.argv[2] ?? ''
for (let i = 0; ; i++) {
  writeDurably(path, (i % 2 === 0 ? 'a' : 'b').repeat(200_000))
  process.stdout.write('.')
}
