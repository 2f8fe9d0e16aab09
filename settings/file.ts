// Parses gslbd.yaml: checked values, or every mistake with its line and column.
import type { Place, YamlPath } from '#diagnostics/diagnostic.ts'
import { helpOf, hintOf, messageOf } from '#diagnostics/diagnostics.ts'
import type { LocalFinding } from '#diagnostics/finding.ts'
import { LineTable } from '#diagnostics/print/position.ts'
import { readYaml } from '#compiler/yaml/document.ts'
import type { YamlDocument } from '#compiler/yaml/document.ts'
import { isFields } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { suggest } from '#lib/suggest.ts'
import { keysUnder, repositoryKeys, settingRows } from './schema.ts'
import type { SettingValue } from '#settings/forms/forms.ts'
import { problemsOf } from './value.ts'

/** Values by key (`dns.port`); keys that the file lacks are missing. */
export type SettingValues = ReadonlyMap<string, SettingValue>

/** Characters; a settings file has a hundred lines. */
const charactersMax = 1_048_576
const problemsMax = 100

/**
 * @param name how messages call the file
 * @returns errors as `NAME:LINE:COL: what, what to do`, in the order of the file
 */
export function readSettingsText(text: string, name: string): Result<SettingValues, string[]> {
  if (text.length > charactersMax) {
    return err([`${name}: the file is larger than 1 MiB; settings of a node are a page of text`])
  }
  const yaml = readYaml(text)
  const reader = new Reader(name, text, yaml)
  for (const found of yaml.findings) reader.add(found.spans[0].start, sentenceOf(found))
  if (yaml.isWhole) reader.readRoot(yaml.value)
  return reader.problems.length === 0 ? ok(reader.values) : err(reader.sorted())
}

/**
 * Puts the file and the place before sentences that begin with the key of a setting. What the file
 * lacks is at the section that it belongs in; other sentences have the name of the file alone.
 */
export function placeSentences(
  text: string,
  name: string,
  sentences: readonly string[],
): readonly string[] {
  const { value, spanOf } = readYaml(text)
  const lines = new LineTable(text)
  return sentences.map((sentence) => {
    const key = /^\w+(\.[\w-]+)*/.exec(sentence)?.[0] ?? ''
    const path = key.split('.')
    const isKey = path.length > 1 || settingRows.some((row) => row.key === key)
    const section = isFields(value) ? value[path[0]!] : undefined
    if (!isKey || section === undefined) return `${name}: ${sentence}`
    const { line, column } = lines.positionOf(spanOf({ path, at: 'value' }).start)
    return `${name}:${line}:${column}: ${sentence}`
  })
}

/**
 * Words a fault as `gslbd check` does, which repeats the line, but without the password of an
 * address.
 */
function sentenceOf(found: LocalFinding): string {
  const help = helpOf(found)
  const hint = hintOf(found.suggestion, help)
  const sentence = `${messageOf(found)}; ${hint === '' ? '' : `${hint} `}${help}`
  return sentence.replaceAll(/:\/\/\S*@/g, '://…@')
}

interface Problem {
  readonly offset: number
  readonly sentence: string
}

class Reader {
  readonly values = new Map<string, SettingValue>()
  readonly problems: Problem[] = []
  readonly #name: string
  readonly #lines: LineTable
  readonly #spanOf: YamlDocument['spanOf']

  constructor(name: string, text: string, { spanOf }: YamlDocument) {
    this.#name = name
    this.#lines = new LineTable(text)
    this.#spanOf = spanOf
  }

  add(offset: number, sentence: string): void {
    // A mistake in the YAML comes first; later problems of the same place only follow from it.
    const isEcho = this.problems.some((known) => known.offset === offset)
    if (!isEcho && this.problems.length < problemsMax) this.problems.push({ offset, sentence })
  }

  sorted(): string[] {
    return this.problems
      .toSorted((a, b) => a.offset - b.offset)
      .map(({ offset, sentence }) => {
        const { line, column } = this.#lines.positionOf(offset)
        return `${this.#name}:${line}:${column}: ${sentence}`
      })
  }

  readRoot(value: unknown): void {
    if (value === undefined || value === null) return
    if (isFields(value)) return this.#readMap(value, [])
    this.#addAt([], 'value', 'the file is not a mapping; write sections such as "dns:"')
  }

  #addAt(path: YamlPath, at: Place['at'], sentence: string): void {
    this.add(this.#spanOf({ path, at }).start, sentence)
  }

  #readMap(mapping: Fields, path: readonly string[]): void {
    for (const [name, value] of Object.entries(mapping)) {
      const here = [...path, name]
      const full = here.join('.')
      if (keysUnder(path).includes(name)) this.#readKnown(full, here, value)
      else this.#addAt(here, 'key', this.#unknown(full, name, path))
    }
  }

  #readKnown(full: string, path: readonly string[], value: unknown): void {
    const row = settingRows.find((candidate) => candidate.key === full)
    if (row !== undefined) {
      const problems = problemsOf(row, value, 'file')
      if (problems.length === 0) this.values.set(full, value as SettingValue)
      for (const { path: inner, at, sentence } of problems) {
        this.#addAt([...path, ...inner], at, sentence)
      }
    } else if (isFields(value)) {
      this.#readMap(value, path)
    } else if (value !== null) {
      // A section whose keys are all commented out is null, and empty.
      const keys = keysUnder(path).join(', ')
      this.#addAt(path, 'value', `${full} is a section; write its keys below it, indented: ${keys}`)
    }
  }

  #unknown(full: string, name: string, path: readonly string[]): string {
    if (repositoryKeys.includes(full)) {
      return `${full} is the same for all nodes: write it below spec in gslb.yaml of the repository`
    }
    const near = suggest(name, keysUnder(path))
    const known = keysUnder(path).join(', ')
    return near === undefined
      ? `there is no setting ${full}; remove it, or use one of: ${known}`
      : `there is no setting ${full}; did you mean "${near}"?`
  }
}
