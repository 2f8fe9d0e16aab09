// `gslbd query-log print`: prints the records of a query log, as lines or as JSON.
import { recordJson, recordLine } from '#why/query-log/print.ts'
import { readQueryLog } from '#why/query-log/read-file.ts'
import { commandLine, Exit, UsageError } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'

const usage = `Usage: gslbd query-log print [--json] [--name NAME] FILE...

Prints the queries that a node has logged (queryLog.file in its settings), or that a receiver of
dnstap has written: when, from where, for what, and which member was chosen, by what, from which
commit. FILE holds dnstap records in Frame Streams.

Options:
  --json       a line of JSON for each, with all that is known; query and reply in base64
  --name NAME  only queries for this name

Exit codes: 0 all was read; 1 a file cannot be read, or not to its end; 2 wrong call.`

export const queryLogCommand: Command = {
  name: 'query-log',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, {
      json: { type: 'boolean', default: false },
      name: { type: 'string' },
    })
    const [verb, ...files] = positionals
    if (verb !== 'print') throw new UsageError('write: gslbd query-log print FILE')
    if (files.length === 0) throw new UsageError('name a file')
    const wanted = values.name === undefined ? undefined : `${values.name}.`.replace(/\.\.$/, '.')
    const print = values.json ? recordJson : recordLine
    let exit: Exit = Exit.Ok
    for (const file of files) {
      for (const record of readQueryLog(file)) {
        if (!record.ok) {
          io.err(`gslbd query-log: ${record.error}\n`)
          exit = Exit.ErrorsFound
        } else if (
          wanted === undefined ||
          record.value.name?.toLowerCase() === wanted.toLowerCase()
        ) {
          io.out(`${print(record.value)}\n`)
        }
      }
    }
    return Promise.resolve(exit)
  },
}
