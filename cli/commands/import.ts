// `gslbd import`: turns a zone of another server into files of a configuration repository.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shownPlace } from '#import/sources/imported.ts'
import type { ImportSource, Note } from '#import/sources/imported.ts'
import { planImport, settingsWith } from '#import/plan.ts'
import type { ImportPlan, PlannedFile, SettingsChange } from '#import/plan.ts'
import { includesBeside, readSourceFile } from '#import/source-file.ts'
import { importSources } from '#import/sources/sources.ts'
import { makeOutputFolder } from '#cli/files/output-folder.ts'
import { commandLine, Exit, onlyOne, UsageError } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'
import { printYaml } from '#compiler/yaml/edit.ts'
import { parseName } from '#dns/name.ts'
import { writeDurably } from '#lib/durable-file.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { suggest } from '#lib/suggest.ts'

const rows = importSources.map(({ name, says }) => `  ${name.padEnd(12)}${says}`).join('\n')
const usage = `Usage: gslbd import SOURCE FILE [options]

Writes the zone in FILE as YAML of a configuration repository: its records under tenants/, its SOA
record and name servers into gslb.yaml; the rules of a policy zone under rpz/. Says what it wrote,
and with its line what it left out.
SOURCE says what FILE is:

${rows}

  -o, --output DIR    the repository; it is made where it is missing (default: .)
  --origin NAME       name of the zone; by default that of its SOA record, or what FILE says
  --tenant NAME       the tenant whose records they are (default: default)
  --write             also adds the zone to a gslb.yaml that is there; without it the lines to add
                      are printed
  --force             overwrites files that are there
  --dry-run           says all of it and writes nothing

Exit codes: 0 written; 1 faults in FILE, or files that are there: nothing is written; 2 wrong call,
unreadable or unwritable path.`

interface Options {
  readonly output: string
  readonly origin: Uint8Array | undefined
  readonly tenant: string
  readonly write: boolean
  readonly force: boolean
  readonly dryRun: boolean
}

export const importCommand: Command = {
  name: 'import',
  usage,
  run: (args, io) => {
    const { positionals, values } = commandLine(args, {
      output: { type: 'string', short: 'o', default: '.' },
      origin: { type: 'string' },
      tenant: { type: 'string', default: 'default' },
      write: { type: 'boolean', default: false },
      force: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
    })
    const [word, ...files] = positionals
    const source = sourceNamed(word)
    const path = onlyOne(files, 'give one file')
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(values.tenant)) {
      throw new UsageError('a tenant is letters, digits, dots, dashes and underscores')
    }
    const { 'dry-run': dryRun, origin, ...others } = values
    const options = { ...others, dryRun, origin: originOf(origin) }
    return Promise.resolve(importFrom(source, path, options, io))
  },
}

function sourceNamed(word: string | undefined): ImportSource {
  const names = importSources.map(({ name }) => name)
  if (word === undefined) throw new UsageError(`say what is imported: ${names.join(', ')}`)
  const source = importSources.find(({ name }) => name === word)
  if (source !== undefined) return source
  const near = suggest(word, names)
  const hint = near === undefined ? `there are ${names.join(', ')}` : `did you mean "${near}"?`
  throw new UsageError(`there is no source "${word}"; ${hint}`)
}

function originOf(text: string | undefined): Uint8Array | undefined {
  if (text === undefined) return undefined
  const name = parseName(text)
  if (!name.ok) throw new UsageError(`--origin is no name: ${text}`)
  return name.value
}

function importFrom(source: ImportSource, path: string, options: Options, io: Io): Exit {
  const fail = (exit: Exit, ...sentences: readonly string[]): Exit => {
    for (const sentence of sentences) io.err(`gslbd import: ${sentence}\n`)
    return exit
  }
  const read = readSource(source, path, options, io)
  if (!read.ok) return fail(Exit.Usage, `${path} ${read.error}`)
  const imported = read.value
  const plan = imported.ok ? planImport(imported.value, options.tenant, io.progress) : imported
  if (!plan.ok) {
    for (const fault of plan.error) io.err(`${shownPlace(fault)}: ${fault.message}\n`)
    return fail(Exit.ErrorsFound, 'nothing was written')
  }
  if (plan.value.settings === null && plan.value.files.length === 0) {
    printAllNotes(plan.value.notes, io)
    return fail(Exit.ErrorsFound, 'there is no rule in it that maps; nothing was written')
  }
  const settings = settingsChange(options.output, plan.value)
  if (!settings.ok) return fail(Exit.ErrorsFound, settings.error, 'nothing was written')
  const files = filesToWrite(plan.value, settings.value, options)
  const taken = files.filter(({ path: one }) => one !== 'gslb.yaml' && isThere(options, one))
  if (taken.length > 0 && !options.force) {
    const sentences = taken.map((one) => `${join(options.output, one.path)} is there already`)
    return fail(Exit.ErrorsFound, ...sentences, 'nothing was written; --force overwrites')
  }
  try {
    if (!options.dryRun) writeAll(options.output, files, io)
  } catch (error) {
    return fail(Exit.Usage, `${options.output} cannot be written: ${String(error)}`)
  }
  tell(plan.value, files, settings.value, options, io)
  return Exit.Ok
}

/** A function of its own, so that the octets of the file are freed when it returns. */
function readSource(
  source: ImportSource,
  path: string,
  { origin }: Options,
  io: Io,
): Result<ReturnType<ImportSource['read']>, string> {
  io.progress?.(`reading ${path}`)
  const file = readSourceFile(path)
  if (!file.ok) return file
  const include = includesBeside(path)
  const how = { include, tell: io.progress, ...(origin === undefined ? {} : { origin }) }
  return ok(source.read(file.value, how))
}

function isThere({ output }: Options, path: string): boolean {
  return existsSync(join(output, path))
}

function settingsChange(output: string, { settings }: ImportPlan): Result<SettingsChange, string> {
  const path = join(output, 'gslb.yaml')
  return settingsWith(existsSync(path) ? readFileSync(path, 'utf8') : undefined, settings)
}

function filesToWrite(
  { files, settings: own }: ImportPlan,
  settings: SettingsChange,
  { write }: Options,
): readonly PlannedFile[] {
  const isLeft = settings.is === 'declared' || settings.is === 'kept'
  if (isLeft || (settings.is === 'added' && !write)) return files
  return [
    {
      path: 'gslb.yaml',
      octets: Buffer.from(settings.text),
      holds: own === null ? 'settings' : 'the zone',
    },
    ...files,
  ]
}

function writeAll(output: string, files: readonly PlannedFile[], io: Io): void {
  const fault = makeOutputFolder(output)
  if (fault !== undefined) throw new Error(fault)
  for (const [i, { path, octets }] of files.entries()) {
    io.progress?.(`writing to ${output}: file`, i + 1, files.length)
    writeDurably(join(output, path), octets)
  }
}

function tell(
  { zone, settings: own, notes }: ImportPlan,
  files: readonly PlannedFile[],
  settings: SettingsChange,
  { output, dryRun }: Options,
  io: Io,
): void {
  for (const { path, holds } of files) {
    io.out(`${dryRun ? 'would write' : 'wrote'} ${join(output, path)}: ${holds}\n`)
  }
  const place = join(output, 'gslb.yaml')
  if (settings.is === 'declared') {
    io.out(`${place} has the zone ${zone} already${settings.differs ? '; compare it with:' : ''}\n`)
  } else if (settings.is === 'added' && files.every(({ path }) => path !== 'gslb.yaml')) {
    io.out(`add to spec of ${place}, or call again with --force --write:\n`)
  }
  const isShown = settings.is === 'declared' ? settings.differs : files[0]?.path !== 'gslb.yaml'
  if (isShown && own !== null) io.out(indented(printYaml({ zones: [own] })))
  printAllNotes(notes, io)
}

function printAllNotes(notes: readonly Note[], io: Io): void {
  for (const [is, title] of titles) printNotes(is, title, notes, io)
}

const titles: readonly (readonly [Note['is'], string])[] = [
  ['changed', 'taken over otherwise:'],
  ['left out', 'left out:'],
  ['not mapped', 'not mapped; look at each:'],
]

function printNotes(is: Note['is'], title: string, notes: readonly Note[], io: Io): void {
  const shown = notes.filter((note) => note.is === is)
  if (shown.length === 0) return
  io.out(`\n${title}\n`)
  for (const { place, text } of shown) io.out(`  ${shownPlace(place)}: ${text}\n`)
}

const indented = (text: string): string => text.replace(/^(?=.)/gm, '  ')
