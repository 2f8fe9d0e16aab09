// A process that looks at a branch once, and kills itself at a named moment.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Position } from '#gitops/sync/publication.ts'
import { HashingCompiler, reconcileBench } from './reconcile-bench.ts'

const [dataDir = '', gitdir = '', allowedSignersPath = '', killAt = ''] = process.argv.slice(2)
const dieAt = (moment: string): void => {
  if (killAt === moment) process.kill(process.pid, 'SIGKILL')
}

/** Activated positions, one line each; the last is the resume point. */
const activated = join(dataDir, 'activated')
const lines = existsSync(activated) ? readFileSync(activated, 'utf8').trim().split('\n') : []
const hashing = new HashingCompiler()
const bench = reconcileBench({
  dataDir,
  gitdir,
  allowedSignersPath,
  resume: lines.length === 0 ? null : (JSON.parse(lines.at(-1)!) as Position),
  compiler: {
    ...hashing,
    compile: (files, commit) => {
      dieAt('compile')
      return hashing.compile(files, commit)
    },
  },
  onPublish: ({ signedRecord }) => {
    dieAt('hand-over')
    const { seq, digest } = signedRecord.record
    appendFileSync(activated, `${JSON.stringify({ seq, digest })}\n`)
    dieAt('activated')
  },
})
process.stdout.write('ready\n')
await bench.check()
