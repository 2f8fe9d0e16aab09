// Plans a release, and finds obstacles: version, changelog, tree, tag, key.

export interface Facts {
  /** Version in package.json. */
  readonly version: string
  /** Versions in other files, by path. */
  readonly stated: ReadonlyMap<string, readonly string[]>
  readonly changelog: string
  /** Lines of `git status --porcelain`. */
  readonly changes: readonly string[]
  readonly tags: readonly string[]
  /** Commit that is released, whatever is committed meanwhile. */
  readonly commit: string
  /** File of the SSH key that git signs with. */
  readonly key: string | undefined
}

/** Version of the product in SARIF; the format's version is indented less. */
const ofSarif = /(^ {10}"version": ")(\d[\d.]+)/gm

/** Other places of the version besides package.json; the first group of a pattern precedes it. */
export const versionPlaces: readonly (readonly [path: string, pattern: RegExp])[] = Object.freeze([
  ['package-lock.json', /(^ {2}(?: {4})?"name": "gslbd",\n {2}(?: {4})?"version": ")([\d.]+)/gm],
  ['lib/version.ts', /(version = ')([\d.]+)/g],
  ['clients/typescript/package.json', /(^ {2}"version": ")([\d.]+)/gm],
  ['deploy/compose/compose.yaml', /(image: gslbd:)([\d.]+)/g],
  ['deploy/helm/gslbd/Chart.yaml', /(ersion: '?)(\d+\.\d+\.\d+)/g],
  ['deploy/kubernetes/base/kustomization.yaml', /(newTag: )([\d.]+)/g],
  ['deploy/kubernetes/overlays/main/kustomization.yaml', /(newTag: )([\d.]+)/g],
  ['deploy/kubernetes/overlays/site/kustomization.yaml', /(newTag: )([\d.]+)/g],
  ['docs/operations/container.md', /(gslbd:)(\d[\d.]+\d)/g],
  ['docs/operations/production.md', /(gslbd[:_])(\d[\d.]+\d)/g],
  ['test/golden/compile/delegated-mistakes/expected.sarif', ofSarif],
  ['test/golden/compile/many-mistakes/expected.sarif', ofSarif],
])

/** Steps of a release in order, and what makes their results. */
export const releaseSteps: readonly (readonly [name: string, does: string])[] = Object.freeze([
  ['check', 'version, changelog, tree, tag and signing key'],
  ['build', 'dist/ (bin/build.ts), and whether NOTICE names what it carries'],
  ['npm', 'gslbd-VERSION.tgz (npm pack)'],
  ['client', 'gslbd-client-VERSION.tgz: @gslbd/client (bin/client-package.ts, npm pack)'],
  ['deb', 'gslbd_VERSION_ARCH.deb (bin/package-deb.ts)'],
  ['image', 'gslbd-VERSION-image.tar (bin/package-image.ts), of the program of the Debian package'],
  ['chart', 'gslbd-chart-VERSION.tgz: the Helm chart, of the commit (git archive)'],
  ['sbom', 'gslbd-VERSION.cdx.json: CycloneDX (npm sbom), of what NOTICE names'],
  [
    'provenance',
    'gslbd-VERSION.intoto.json: commit, build and SHA-256 of each file (in-toto, SLSA)',
  ],
  ['checksums', 'SHA256SUMS, and SHA256SUMS.sig by the signing key'],
  ['tag', 'vVERSION, annotated and signed, with the part of the changelog'],
])

/** What git makes the package of the chart with: the files of the commit, in a folder `gslbd/`. */
export const chartArchive = (commit: string, file: string): readonly string[] => [
  ...['archive', '--format=tar.gz', '--prefix=gslbd/', `--output=${file}`],
  `${commit}:deploy/helm/gslbd`,
]

/** @returns sentences: causes and remedies */
export function releaseFaults(facts: Facts): string[] {
  const { changes, key } = facts
  return [
    ...versionFaults(facts),
    ...changelogFaults(facts),
    ...treeFaults(changes),
    ...(key === undefined
      ? [
          'git has no SSH key to sign with: git config gpg.format ssh, ' +
            'and git config user.signingkey FILE',
        ]
      : []),
  ]
}

function treeFaults(changes: readonly string[]): string[] {
  if (changes.length === 0) return []
  const shown = [...changes.slice(0, 3), ...(changes.length > 3 ? ['…'] : [])].join(', ')
  return [`the tree is not clean (${shown}): commit what belongs to the release, remove the rest`]
}

function versionFaults({ version, stated, tags }: Facts): string[] {
  const own = numbersOf(version)
  if (own === undefined)
    return [`package.json says version "${version}": write three numbers, such as 0.2.0`]
  const raise = 'raise it: npm run release -- --set-version X.Y.Z'
  const found: string[] = []
  if (tags.includes(`v${version}`)) found.push(`the tag v${version} exists: ${raise}`)
  const newest = tags.filter((tag) => isAbove(numbersOf(tag.slice(1)), own))
  if (newest.length > 0)
    found.push(`the version ${version} is below ${newest.at(-1)}, which is released: ${raise}`)
  for (const [path, versions] of stated) {
    const wrong = versions.find((one) => one !== version)
    if (versions.length === 0) found.push(`${path} states no version where one is looked for`)
    else if (wrong !== undefined)
      found.push(
        `${path} says ${wrong}, and package.json ${version}: ` +
          `npm run release -- --set-version ${version}`,
      )
  }
  return found
}

function changelogFaults({ version, changelog }: Facts): string[] {
  const heading = headingOf(changelog, version)
  if (heading === undefined)
    return [`CHANGELOG.md has no heading "## ${version}": say there what the version does`]
  if (!/^## \S+ \(\d{4}-\d\d-\d\d\)$/.test(heading))
    return [`CHANGELOG.md says "${heading}": write the day, as in "## ${version} (2026-01-31)"`]
  return changesOf(changelog, version) === ''
    ? [`CHANGELOG.md says nothing below "${heading}": say what the version does`]
    : []
}

const headingOf = (changelog: string, version: string): string | undefined =>
  changelog.split('\n').find((line) => line.split(' ').slice(0, 2).join(' ') === `## ${version}`)

/** @returns the part of the changelog below the heading of the version */
export function changesOf(changelog: string, version: string): string {
  const lines = changelog.split('\n')
  const start = lines.indexOf(headingOf(changelog, version) ?? '')
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => line.startsWith('## '))
  return rest
    .slice(0, end === -1 ? rest.length : end)
    .join('\n')
    .trim()
}

function numbersOf(version: string): readonly number[] | undefined {
  const parts = /^(\d+)\.(\d+)\.(\d+)$/.exec(version)
  return parts === null ? undefined : parts.slice(1).map(Number)
}

function isAbove(one: readonly number[] | undefined, other: readonly number[]): boolean {
  if (one === undefined) return false
  const place = one.findIndex((number, index) => number !== other[index])
  return place !== -1 && one[place]! > other[place]!
}
