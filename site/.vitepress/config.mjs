// The site has the pages of ../docs as they are. Their order is that of the links in docs/README.md, which is the first
// page. Links to files outside of docs lead to the repository; a link to a file that does not exist fails the build.
import fs from 'node:fs'
import path from 'node:path'
import { defineConfig } from 'vitepress'

const docs = path.resolve(import.meta.dirname, '../../docs')
const root = path.dirname(docs)
const repository = 'https://github.com/nabla-ad/nabla'

// title is the first heading of a page.
function title(file) {
  const heading = fs.readFileSync(file, 'utf8').match(/^# (.+)$/m)
  if (!heading) throw new Error(`${file} has no heading`)
  return heading[1].replaceAll('`', '')
}

// sidebar has the pages that docs/README.md links, under its headings; every page of docs must be there.
function sidebar() {
  const groups = []
  const seen = new Set(['README.md'])
  for (const line of fs.readFileSync(path.join(docs, 'README.md'), 'utf8').split('\n')) {
    if (line.startsWith('## ')) groups.push({ text: line.slice(3), items: [] })
    for (const [, name] of line.matchAll(/\]\(([^)#:]+\.md)(?:#[^)]*)?\)/g)) {
      const file = path.join(docs, name)
      if (seen.has(name) || name.startsWith('..')) continue
      if (groups.length === 0) groups.push({ text: 'Start', items: [] })
      seen.add(name)
      groups.at(-1).items.push({ text: title(file), link: '/' + name.replace(/(README)?\.md$/, '') })
    }
  }
  for (const entry of fs.readdirSync(docs, { recursive: true })) {
    if (entry.endsWith('.md') && !seen.has(entry)) throw new Error(`docs/README.md has no link to ${entry}`)
  }
  return groups.filter(group => group.items.length > 0)
}

// outward makes links to files outside of docs links to the repository.
function outward(md) {
  const open = md.renderer.rules.link_open
  md.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const href = tokens[index].attrGet('href') ?? ''
    if (!/^[a-z]+:|^#/i.test(href)) {
      const [name, anchor] = href.split('#')
      const page = env.path ?? path.join(docs, env.relativePath ?? '')
      const target = path.resolve(path.dirname(page), decodeURI(name))
      if (!target.startsWith(docs + path.sep)) {
        if (!fs.existsSync(target)) throw new Error(`${page}: ${href} does not exist`)
        const kind = fs.statSync(target).isDirectory() ? 'tree' : 'blob'
        const to = `${repository}/${kind}/main/${path.relative(root, target)}`
        tokens[index].attrSet('href', anchor ? `${to}#${anchor}` : to)
        tokens[index].attrSet('target', '_blank')
        tokens[index].attrSet('rel', 'noreferrer')
      } else {
        tokens[index].attrSet('href', href.replace(/README\.md(#|$)/, 'index.md$1'))
      }
    }
    return open ? open(tokens, index, options, env, self) : self.renderToken(tokens, index, options)
  }
}

export default defineConfig({
  title: 'nabla',
  description: 'Exact derivatives of ordinary Go functions',
  srcDir: '../docs',
  outDir: './dist',
  cacheDir: './.vitepress/cache',
  rewrites: name => name.replace(/README\.md$/, 'index.md'),
  cleanUrls: false,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: { config: outward },
  // Pages are outside of this directory, from where their imports are not found.
  vite: {
    resolve: {
      alias: ['vue/server-renderer', 'vue'].map(name => ({
        find: new RegExp(`^${name}$`),
        replacement: path.join(import.meta.dirname, '../node_modules', name),
      })),
    },
  },
  themeConfig: {
    nav: [
      { text: 'Packages', link: 'https://pkg.go.dev/github.com/nabla-ad/nabla' },
      { text: 'Examples', link: `${repository}/tree/main/examples` },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
  },
})
