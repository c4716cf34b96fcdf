// Opens the built site in Chromium: every page by the navigation, wide and narrow, light and dark; every link and anchor;
// the search. SHOTS=DIR saves pictures there. Without Chromium the test is skipped.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { after, before, test } from 'node:test'
import puppeteer from 'puppeteer-core'

const dist = path.join(import.meta.dirname, 'dist')
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json',
  '.woff2': 'font/woff2', '.svg': 'image/svg+xml', '.png': 'image/png' }

function chromium() {
  for (const name of [process.env.CHROMIUM, 'chromium', 'chromium-browser', 'google-chrome']) {
    if (!name) continue
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim()
    } catch {} // try the next
  }
}
const executablePath = chromium()
const skip = executablePath ? false : 'no chromium here (on Debian: apt-get install chromium)'

let server, browser, base
before(async () => {
  if (skip) return
  server = http.createServer((request, response) => {
    let name = decodeURI(new URL(request.url, 'http://site').pathname)
    if (name.endsWith('/')) name += 'index.html'
    const file = path.join(dist, name)
    if (!file.startsWith(dist + path.sep) || !fs.existsSync(file)) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'Content-Type': types[path.extname(file)] ?? 'application/octet-stream' })
    fs.createReadStream(file).pipe(response)
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  base = `http://127.0.0.1:${server.address().port}`
  browser = await puppeteer.launch({ executablePath, args: ['--no-sandbox'] })
})
after(async () => {
  await browser?.close()
  server?.close()
})

// open returns a page that fails the test at its end if the console had an error or a request failed.
async function open(t, width, scheme) {
  const page = await browser.newPage()
  const errors = []
  page.on('console', message => message.type() === 'error' && errors.push(message.text()))
  page.on('pageerror', error => errors.push(String(error)))
  page.on('requestfailed', request => errors.push(`${request.url()}: ${request.failure().errorText}`))
  page.on('response', response => response.status() >= 400 && errors.push(`${response.url()}: ${response.status()}`))
  await page.setViewport({ width, height: 900, isMobile: width < 700, hasTouch: width < 700 })
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
  await page.goto(base, { waitUntil: 'networkidle0' })
  t.after(async () => {
    await page.close()
    assert.deepEqual(errors, [])
  })
  return page
}

async function shot(page, name) {
  if (process.env.SHOTS) await page.screenshot({ path: path.join(process.env.SHOTS, name + '.png') })
}

const heading = page => page.$eval('.vp-doc h1', h => h.textContent.replace(/\u200b|#/g, '').trim())

for (const scheme of ['light', 'dark']) {
  for (const width of [1280, 390]) {
    test(`navigation, ${width} wide, ${scheme}`, { skip }, async t => {
      const page = await open(t, width, scheme)
      const narrow = width < 960
      const dark = await page.evaluate(() => document.documentElement.classList.contains('dark'))
      assert.equal(dark, scheme === 'dark')
      const names = await page.$$eval('.VPSidebar a.link', links => links.map(a => a.getAttribute('href')))
      assert.ok(names.length >= 2, `${names.length} pages in the navigation`)
      await shot(page, `index-${width}-${scheme}`)
      for (const name of names) {
        if (narrow) {
          await page.waitForFunction(() => { // the button does nothing until the page has its scripts
            if (document.querySelector('.VPSidebar.open')) return true
            document.querySelector('.VPLocalNav .menu').click()
          }, { polling: 300 })
        }
        const want = await page.$eval(`.VPSidebar a.link[href="${name}"]`, a => a.textContent.trim())
        await page.$eval(`.VPSidebar a.link[href="${name}"]`, a => a.click())
        await page.waitForFunction(name => location.pathname === name, {}, name)
        await page.waitForFunction(want => document.querySelector('.vp-doc h1')?.textContent.includes(want), {}, want)
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        assert.ok(wide <= 0, `${name} is ${wide} pixels wider than the window`)
        await shot(page, `${path.basename(name, '.html')}-${width}-${scheme}`)
      }
    })
  }
}

test('links', { skip }, async t => {
  const page = await open(t, 1280, 'light')
  const queue = [base + '/'], targets = new Map(), anchors = new Map()
  while (queue.length > 0) {
    const url = queue.pop()
    if (anchors.has(url)) continue
    await page.goto(url, { waitUntil: 'load' })
    anchors.set(url, new Set(await page.$$eval('[id]', list => list.map(e => e.id))))
    for (const href of await page.$$eval('a[href]', list => list.map(a => a.href))) {
      if (!href.startsWith(base)) continue
      const [target, anchor] = href.split('#')
      queue.push(target)
      if (anchor) targets.set(href, { target, anchor: decodeURIComponent(anchor), url })
    }
  }
  for (const { target, anchor, url } of targets.values()) {
    assert.ok(anchors.get(target).has(anchor), `${url} links to ${target}#${anchor}`)
  }
})

test('search', { skip }, async t => {
  const page = await open(t, 1280, 'light')
  await page.click('.VPNavBarSearch button')
  await page.waitForSelector('.VPLocalSearchBox input')
  await page.type('.VPLocalSearchBox input', 'gradient')
  await page.waitForSelector('.VPLocalSearchBox .result')
  await shot(page, 'search')
  await page.click('.VPLocalSearchBox .result')
  await page.waitForFunction(() => !document.querySelector('.VPLocalSearchBox'))
  assert.match(await page.$eval('.vp-doc', e => e.textContent), /gradient/i)
  assert.ok((await heading(page)).length > 0)
})
