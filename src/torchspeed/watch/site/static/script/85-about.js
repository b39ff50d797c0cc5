// About is text; the script only names it for the title and the navigation.
window.torchspeed.views.about = { title: "About", mount() {}, update() {} };
