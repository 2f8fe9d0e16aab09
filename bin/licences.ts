// Writes licences.txt beside what a build makes: the texts that must go with copies of packages.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'rolldown'

/** A package that is carried along. */
export interface Carried {
  readonly name: string
  /** As its package.json says, such as MIT. */
  readonly licence: string
  readonly copyrights: readonly string[]
}

export const licencesFile = 'licences.txt'

/** For rolldown and vite: names and texts of all packages that chunks were made of. */
export const licences: Plugin = {
  name: 'licences',
  generateBundle(_options, files) {
    const folders = Object.values(files)
      .flatMap((file) => (file.type === 'chunk' ? Object.keys(file.modules) : []))
      .flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? [])
    const texts = [...new Set(folders)].toSorted().map(licenceOf)
    this.emitFile({ type: 'asset', fileName: licencesFile, source: texts.join('\n') })
  },
}

const terms = join(import.meta.dirname, 'licences')
const termsFile = /^(un)?(licen[cs]e|copying|notice)/i

/** @param folder of an installed package */
export function licenceOf(folder: string): string {
  const { name, version, license } = aboutOf(folder)
  const texts = [missingTerms(folder) ?? textsOf(folder, termsFile).join('\n')]
  // It contains PostgreSQL, whose terms its package lacks.
  if (name === '@electric-sql/pglite') {
    texts.push(readFileSync(join(terms, 'PostgreSQL.txt'), 'utf8'))
  }
  return `=== ${name} ${version} (${license})\n\n${texts.join('\n')}`
}

interface About {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly author?: string | { readonly name: string }
}

const aboutOf = (folder: string): About =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as About

/**
 * The standard text of the licence that a package names without having a file of it.
 *
 * @throws Error: bin/licences has no such text
 */
export function missingTerms(folder: string): string | undefined {
  if (readdirSync(folder).some((file) => termsFile.test(file))) return undefined
  const { name, license, author } = aboutOf(folder)
  const standard = join(terms, `${license}.txt`)
  if (!existsSync(standard)) {
    throw new Error(`${name} has no licence file: write the text of ${license} into ${standard}`)
  }
  const readme = textsOf(folder, /^readme/i).flatMap(copyrightsOf)
  const holder = typeof author === 'object' ? author.name : author
  const lines = readme.length > 0 ? readme : [`Copyright (c) ${holder ?? `the authors of ${name}`}`]
  return readFileSync(standard, 'utf8').replace('COPYRIGHT', () => lines.join('\n'))
}

const textsOf = (folder: string, names: RegExp): string[] =>
  readdirSync(folder)
    .filter((file) => names.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'))

/** @param text of one or more packages, as `licenceOf` writes it */
export function carriedOf(text: string): Carried[] {
  const parts = text.split(/^=== (\S+) \S+ \((.+)\)\n/m).slice(1)
  const found: Carried[] = []
  for (let index = 0; index < parts.length; index += 3) {
    const [name = '', licence = '', terms = ''] = parts.slice(index, index + 3)
    found.push({ name, licence, copyrights: copyrightsOf(terms) })
  }
  return found
}

/** Lines such as "Copyright (c) 2020 Ann", each once; the blanks of a form are none. */
function copyrightsOf(terms: string): string[] {
  const lines = terms.matchAll(/^\W*((?:portions )?copyright\b(?=.*(?:\(c\)|©|\b\d{4}\b)).*)$/gim)
  const said = [...lines].map(([, line = '']) => line.replaceAll(/\s+/g, ' ').trim())
  return [...new Set(said.filter((line) => !/[[{](?:yyyy|year)[\]}]/i.test(line)))]
}
