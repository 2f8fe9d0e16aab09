// Writes licences.txt beside the results of a build: the texts that must accompany copies of
// packages.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'rolldown'

/** A third-party package in the product. */
export interface Carried {
  readonly name: string
  /** Licence from its package.json, such as MIT. */
  readonly licence: string
  readonly copyrights: readonly string[]
}

export const licencesFile = 'licences.txt'

/**
 * Plugin of rolldown and vite: collects names and texts of all packages whose code is in chunks.
 */
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

/** @param folder folder of an installed package */
export function licenceOf(folder: string): string {
  const { name, version, license } = aboutOf(folder)
  const texts = [missingTerms(folder) ?? textsOf(folder, termsFile).join('\n')]
  // The package contains PostgreSQL, without its terms.
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
 * Returns the standard text of the licence that a package names without including its file.
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

/** @param text text of one or more packages, as `licenceOf` writes it */
export function carriedOf(text: string): Carried[] {
  const parts = text.split(/^=== (\S+) \S+ \((.+)\)\n/m).slice(1)
  const found: Carried[] = []
  for (let index = 0; index < parts.length; index += 3) {
    const [name = '', licence = '', terms = ''] = parts.slice(index, index + 3)
    found.push({ name, licence, copyrights: copyrightsOf(terms) })
  }
  return found
}

/**
 * Returns lines such as "Copyright (c) 2020 Ann", without duplicates and without the blanks of a
 * form.
 */
function copyrightsOf(terms: string): string[] {
  const lines = terms.matchAll(/^\W*((?:portions )?copyright\b(?=.*(?:\(c\)|©|\b\d{4}\b)).*)$/gim)
  const said = [...lines].map(([, line = '']) => line.replaceAll(/\s+/g, ' ').trim())
  return [...new Set(said.filter((line) => !/[[{](?:yyyy|year)[\]}]/i.test(line)))]
}
